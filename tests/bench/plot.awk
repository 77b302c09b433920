# plot.awk - a table of figures as a line chart (SVG), both axes logarithmic.
#
#   awk -v title=... -v xlabel=... -v ylabel=... -v names="one,another" -f plot.awk
#
# A line of input: x, then a value for each name ("-" where there is none).

function floor(v) { return int(v) - (int(v) > v) }
function log10(v) { return log(v) / log(10) }
function px(x) { return left + (log10(x) - xlow) / (xhigh - xlow) * width }
function py(y) { return top + height - (log10(y) - ylow) / (yhigh - ylow) * height }
function text(x, y, s, attributes) {
	printf "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, s
}
function human(v) { return v >= 1e6 ? v / 1e6 "M" : v >= 1e3 ? v / 1e3 "k" : v "" }

/^[0-9]/ {
	x[++n] = $1
	for (i = 2; i <= NF; i++)
		if ($i != "-") {
			y[n, i - 1] = $i
			if (ymin == "" || $i < ymin) ymin = $i
			if ($i > ymax) ymax = $i
		}
	if (xmin == "" || $1 < xmin) xmin = $1
	if ($1 > xmax) xmax = $1
}

END {
	series = split(names, name, ",")
	left = 80; top = 46 + 20 * int((series + 1) / 2); width = 590; height = 300
	xlow = log10(xmin) - 0.1; xhigh = log10(xmax) + 0.1
	ylow = floor(log10(ymin)); yhigh = floor(log10(ymax)) + 1
	split("#1b6ca8,#c8553d,#3a7d44,#7b4fa3", color, ",")
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\" height=\"%d\" viewBox=\"0 0 700 %d\" font-family=\"sans-serif\" font-size=\"13\">\n", top + height + 60, top + height + 60
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	text(left, 28, title, "font-size=\"16\"")
	for (k = int(xlow); k <= xhigh; k++) {
		if (k < xlow) continue
		printf "<path d=\"M%.1f %d v%d\" stroke=\"#ddd\"/>\n", px(10 ^ k), top, height
		text(px(10 ^ k), top + height + 20, human(10 ^ k), "text-anchor=\"middle\"")
	}
	for (k = ylow; k <= yhigh; k++) {
		printf "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>\n", left, py(10 ^ k), width
		text(left - 8, py(10 ^ k) + 4, human(10 ^ k), "text-anchor=\"end\"")
	}
	text(left + width / 2, top + height + 45, xlabel, "text-anchor=\"middle\"")
	printf "<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", top + height / 2, ylabel
	for (s = 1; s <= series; s++) {
		path = ""
		xkey = left + (s - 1) % 2 * width / 2; ykey = 50 + 20 * int((s - 1) / 2)
		for (i = 1; i <= n; i++)
			if ((i, s) in y) {
				path = path sprintf("%s%.1f %.1f", path == "" ? "M" : " L", px(x[i]), py(y[i, s]))
				printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", px(x[i]), py(y[i, s]), color[s]
			}
		printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, color[s]
		printf "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", xkey, ykey - 6, color[s]
		text(xkey + 22, ykey, name[s], "")
	}
	print "</svg>"
}
