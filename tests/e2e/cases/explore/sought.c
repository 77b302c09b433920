/* A complete exploration names the kinds of error that it looks for, and does not. */
int x;

int main(void)
{
	x = 1;
	return 0;
}

//: explore
//= exit 0
//= complete yes
//~ join(",",@{$d->{"looked-for"}}) data.races
//~ join(",",@{$d->{"not-looked-for"}}) nothing.was.written
//: explore --format text @
//= exit 0
//~ out note: looked for .*misuse of threads.*; not for .*arguments that other library functions refuse
