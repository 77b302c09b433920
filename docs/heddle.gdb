# gdb commands for Heddle's own data: gdb -x docs/heddle.gdb ./heddle
#
#     heddle event TRACE ID [COUNT]     events as the text format spells them
#     heddle clock CLOCKS [THREAD]      the vector clocks of all threads, or of one
#
# TRACE is an expression for a struct trace *, CLOCKS one for a struct clocks *.  Memory is only
# read and nothing is called, so a core file will do.  ID and THREAD are expressions, too.
python
import gdb


class HeddleCommand(gdb.Command):
    """Heddle's data: heddle event TRACE ID [COUNT], heddle clock CLOCKS [THREAD]."""

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION, True)


class TraceTables:
    """The tables of a struct trace, by trace.h."""

    def __init__(self, expression):
        self.trace = gdb.parse_and_eval(expression)

    def row(self, table, index):
        count = int(self.trace[table + "_count"])
        if not 0 <= index < count:
            raise gdb.GdbError("%s has %d rows, no %d" % (table, count, index))
        return self.trace[table][index]

    def string(self, index):
        text = self.trace["string_bytes"] + int(self.row("string_offsets", index))
        return text.string(errors="backslashreplace")

    def named(self, table):
        return lambda index: self.string(int(self.row(table, index)["name"]))

    def variable(self, index):
        row = self.row("variables", index)
        if int(row["spelling"]) < 1 << 31:  # NAME_BY_RULE
            return self.string(int(row["spelling"]))
        # spelt by a rule when Heddle asks for it (spelt.c); here by its place in its block
        block = self.row("blocks", int(row["block"]))
        offset = int(row["address"]) - int(block["address"])
        return "%s+%d" % (self.string(int(block["name"])), offset)

    def operand(self, event, kind):
        target = int(event["target"])
        if kind == "VARIABLE" and int(event["flags"]) & int(gdb.parse_and_eval("EVENT_WIDE")):
            wide = self.row("wides", target)
            first, count = int(wide["first"]), int(wide["count"])
            return " ".join(map(self.variable, range(first, first + count)))
        spelt = {
            "NOTHING": lambda index: "",
            "VARIABLE": self.variable,
            "OBJECT": self.named("objects"),
            "THREAD": self.named("threads"),
            "MESSAGE": lambda index: self.string(int(self.row("messages", index))),
            "BLOCK": self.named("blocks"),
            "INSTANCE": self.named("instances"),
            "NAME": self.string,
        }
        return spelt[kind](target)

    def value(self, index):
        if index & 1 << 31:  # VALUE_INTEGER
            return str(index & ~(1 << 31))
        value = self.row("values", index)["value"]
        kind = str(value["kind"].cast(gdb.lookup_type("enum value_kind")))[2:]
        if kind == "INT":
            return str(int(value["integer"]))
        if kind in ("STRING", "TOKEN"):
            return self.string(int(value["string"]))
        if kind == "PAIR":
            return "%s>%s" % (self.value(int(value["first"])), self.value(int(value["second"])))
        return kind.lower()

    def event(self, id):
        event = self.row("events", id)
        info = gdb.parse_and_eval("op_table")[int(event["op"])]
        kind = str(info["operand"]).split("_", 1)[1]
        line = "%d %s|%s" % (id, self.named("threads")(int(event["thread"])), info["word"].string())
        if kind != "NOTHING":
            line += "(%s)" % self.operand(event, kind)
        if str(info["class"]) == "OP_CLASS_ACCESS" and int(event["aux"]):
            line += "=" + self.value(int(event["aux"]))
        if int(event["flags"]) & int(gdb.parse_and_eval("EVENT_INERT")):
            line += " (inert)"
        return line + "|" + self.named("locations")(int(event["location"]))


class EventCommand(gdb.Command):
    """heddle event TRACE ID [COUNT]: print events, one a line, as the text format does."""

    def __init__(self):
        super().__init__("heddle event", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arguments, from_tty):
        words = gdb.string_to_argv(arguments)
        if len(words) not in (2, 3):
            raise gdb.GdbError("usage: heddle event TRACE ID [COUNT]")
        tables = TraceTables(words[0])
        first, count = [int(gdb.parse_and_eval(w)) for w in (words[1:] + ["1"])[:2]]
        for id in range(first, min(first + max(count, 1), max(first + 1, int(tables.trace["events_count"])))):
            print(tables.event(id))


class ClockCommand(gdb.Command):
    """heddle clock CLOCKS [THREAD]: print vector clocks (clocks.h).  The component of a thread is one
more than the last event of it that happened before; a second plane follows a slash."""

    def __init__(self):
        super().__init__("heddle clock", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arguments, from_tty):
        words = gdb.string_to_argv(arguments)
        if len(words) not in (1, 2):
            raise gdb.GdbError("usage: heddle clock CLOCKS [THREAD]")
        clocks = gdb.parse_and_eval(words[0])
        threads, planes = int(clocks["threads"]), int(clocks["planes"])
        chosen = [int(gdb.parse_and_eval(words[1]))] if len(words) == 2 else range(threads)
        for thread in chosen:
            if not 0 <= thread < threads:
                raise gdb.GdbError("there are %d threads, no %d" % (threads, thread))
            row = int(clocks["now"][thread])
            cells = clocks["cells"] + row * int(clocks["width"])
            print("thread %d (row %d): %s" % (thread, row, " / ".join(
                "[%s]" % " ".join(str(int(cells[plane * threads + u])) for u in range(threads))
                for plane in range(planes))))


HeddleCommand()
EventCommand()
ClockCommand()
end
