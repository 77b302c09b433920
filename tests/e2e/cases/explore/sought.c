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
//~ join(",",@{$d->{"not-looked-for"}}) reads.of.uninitialised.memory
//: explore --format text @
//= exit 0
//~ out note: looked for: .*misuse of threads.*
//~ out note: not looked for: .*arguments that other library functions refuse
