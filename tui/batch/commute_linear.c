/*
 * commute_linear.c - see commute_linear.h.
 */
#include "tui/batch/commute_linear.h"

#include "tui/batch/print/linear_json.h"
#include "tui/batch/print/print.h"

#include <stdlib.h>
#include <string.h>

/* The verdict on an object, or on the first of its keys that is not linearizable. */
struct object_verdict {
	uint32_t object, invocations;
	enum linear_answer answer;
	struct linear_story *story; /* LINEAR_NO; owned */
	char *why;                  /* LINEAR_UNDECIDED; owned */
};

static void object_verdict_clear(void *data)
{
	struct object_verdict *t = data;
	linear_story_free(t->story);
	g_free(t->why);
}

static struct object_verdict *object_verdict_of(GArray *all, uint32_t object)
{
	for (guint i = 0; i < all->len; i++)
		if (g_array_index(all, struct object_verdict, i).object == object)
			return &g_array_index(all, struct object_verdict, i);
	struct object_verdict fresh = { .object = object, .answer = LINEAR_YES };
	g_array_append_val(all, fresh);
	return &g_array_index(all, struct object_verdict, all->len - 1);
}

static void judge(struct model *m, const struct linear_part *part, struct object_verdict *t)
{
	t->invocations += part->h.count;
	if (t->answer != LINEAR_YES)
		return;
	t->answer = LINEAR_UNDECIDED;
	if (part->refused != NULL)
		t->why = g_strdup_printf("not looked at: %s", part->refused);
	else
		t->answer = linear_judge(part, m, NULL, &t->story, &t->why);
}

static void print_text(struct model *m, const GArray *all, const GPtrArray *notes)
{
	for (guint i = 0; i < all->len; i++) {
		const struct object_verdict *t = &g_array_index(all, struct object_verdict, i);
		char *name = model_object_name(m, t->object);
		if (t->answer == LINEAR_NO)
			printf("%s\n", t->story->text);
		else if (t->answer == LINEAR_UNDECIDED)
			printf("%s: undecided: %s\n", name, t->why);
		else
			printf("%s: %u invocation%s, linearizable\n", name, t->invocations,
			       plural(t->invocations));
		g_free(name);
	}
	if (all->len == 0)
		printf("the trace has no invocation of an object with a specification\n");
	for (guint i = 0; i < notes->len; i++)
		printf("%s\n", (char *)notes->pdata[i]);
}

static json_t *object_json(struct model *m, const struct object_verdict *t)
{
	char *name = model_object_name(m, t->object);
	json_t *j = json_pack("{s:o, s:s, s:i, s:o}", "object", json_text(name), "type",
	                      m->objects[t->object].type->o->name, "invocations",
	                      (int)t->invocations, "linearizable",
	                      t->answer == LINEAR_UNDECIDED
	                              ? json_null()
	                              : json_boolean(t->answer == LINEAR_YES));
	if (t->why)
		json_object_set_new(j, "why", json_text(t->why));
	if (t->story) {
		json_object_set_new(j, "story", json_string(t->story->text));
		json_object_set_new(j, "location", json_text(t->story->place));
		json_object_set_new(j, "history", history_json(t->story->shown));
	}
	g_free(name);
	return j;
}

static void print_json(struct model *m, const GArray *all, const GPtrArray *notes)
{
	json_t *objects = json_array(), *said = json_array();
	for (guint i = 0; i < all->len; i++)
		json_array_append_new(
		        objects, object_json(m, &g_array_index(all, struct object_verdict, i)));
	for (guint i = 0; i < notes->len; i++)
		json_array_append_new(said, json_text(notes->pdata[i]));
	json_t *root = json_pack("{s:s, s:s, s:o, s:o}", "heddle", HEDDLE_VERSION, "analysis",
	                         "linearizable", "objects", objects, "notes", said);
	json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
}

int commute_linear(struct model *m, const GPtrArray *notes, enum output_format format)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct object_verdict));
	GPtrArray *parts = linear_parts(m);
	bool wrong = false, open = false;
	g_array_set_clear_func(all, object_verdict_clear);
	for (guint i = 0; i < parts->len; i++) {
		const struct linear_part *part = parts->pdata[i];
		judge(m, part, object_verdict_of(all, part->object));
	}
	for (guint i = 0; i < all->len; i++) {
		wrong |= g_array_index(all, struct object_verdict, i).answer == LINEAR_NO;
		open |= g_array_index(all, struct object_verdict, i).answer == LINEAR_UNDECIDED;
	}
	if (format == FORMAT_JSON)
		print_json(m, all, notes);
	else
		print_text(m, all, notes);
	g_ptr_array_unref(parts);
	g_array_unref(all);
	return wrong ? EXIT_FOUND : open ? EXIT_BUDGET : EXIT_NOTHING;
}
