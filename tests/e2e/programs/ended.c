/* ended.c - instrumented, and over at once: no replay of another program comes to its pair. */
int main(void)
{
	return 0;
}
