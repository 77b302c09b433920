#!/bin/bash
# The library of the bind lines is compiled once for a program and its specification: later
# recordings take it from the cache, with the same trace; a cache that others can write, or that is
# damaged, is not used.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >box.spec <<'S'
object box {
  method put(v) / p
  commute put, put : false
  bind put = "put(struct box *self, long v) -> long p"
}
S
cat >box.c <<'C'
struct box {
	long value;
};
__attribute__((noinline, noclone)) long put(struct box *b, long v)
{
	long p = b->value;
	b->value = v;
	return p;
}
int main(void)
{
	static struct box b;
	put(&b, 1);
	return (int)put(&b, 2) - 1;
}
C
$HEDDLE cc -g -O1 box.c -o box || echo "# cannot build box"
printf '#!/bin/sh\necho compiled >>"%s/log"\nexec cc "$@"\n' "$scratch" >counting
chmod +x counting
export CC=$scratch/counting
compiled() { cat log 2>/dev/null | wc -l; }

for n in 1 2; do
	run $HEDDLE record --spec box.spec -o $n.hdl -- ./box
	is "$status" 0 "recording $n"
	is "$(compiled)" 1 "is made with one compilation"
	$HEDDLE convert -q $n.hdl $n.txt
	is "$(grep -c 'call(.*put' $n.txt)" 2 "and has the calls"
done
run cmp 1.hdl 2.hdl
is "$status" 0 "byte for byte"

kept=$(ls .cache/heddle/bind-*.library)
is "$(stat -c %a $kept)" 600 "the library is the user's own"
printf 'x' | dd of="$kept" conv=notrunc status=none
$HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$(compiled)" 2 "a damaged one is compiled anew"
chmod 777 .cache/heddle
$HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$(compiled)" 3 "and so it is where others can write"
chmod 700 .cache/heddle
$HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$(compiled)" 3 "not any more when they cannot"
sed -i 's/, put : false/, put : true/' box.spec
$HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$(compiled)" 3 "what the compiler does not see changes nothing"
sed -i 's/v) -> long p/v) -> int p/' box.spec
$HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$(compiled)" 4 "another prototype is another library"
rm -rf .cache
echo >.cache
run $HEDDLE record -q --spec box.spec -o 3.hdl -- ./box
is "$status" 0 "without a cache"
is "$(compiled)" 5 "it is compiled"
done_testing
