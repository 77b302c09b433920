/* A library that shared.c opens while it runs. */
int late_value;
void late_touch(int v)
{
	late_value = v;
}
