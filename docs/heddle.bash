# bash completion for heddle; made by docs/manual.sh, do not edit
_heddle() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= files=-f
	if [ "$COMP_CWORD" = 1 ]; then
		words="check fix-check cc c++ record open info doctor races deadlocks commute atomic compare witness verify explain graph replay explore shake orders convert filter diff merge spec lesson"
	else case "${COMP_WORDS[1]} $before" in
	"check --format") words="text json sarif quickfix" files= ;;
	"fix-check --format") words="text json" files= ;;
	"record --mode") words="controlled free" files= ;;
	"record --strategy") words="random pct noise rr pos surw turns pause" files= ;;
	"record --memory") words="sc tso rc11" files= ;;
	"record --filter") words="hb wcp variables commute" files= ;;
	"info --format") words="text json" files= ;;
	"doctor --format") words="text json" files= ;;
	"races --analysis") words="auto lockset hb shb cp wcp dc wdc syncp m2 smt rdit" files= ;;
	"races --pairs") words="sites events" files= ;;
	"races --verdicts") words="races all" files= ;;
	"races --format") words="text json sarif quickfix" files= ;;
	"deadlocks --pairs") words="sites events" files= ;;
	"deadlocks --format") words="text json sarif quickfix" files= ;;
	"commute --analysis") words="rd2 cov edc" files= ;;
	"commute --pairs") words="sites events" files= ;;
	"commute --format") words="text json sarif quickfix" files= ;;
	"atomic --format") words="text json sarif quickfix" files= ;;
	"compare --format") words="text json" files= ;;
	"witness --format") words="text json" files= ;;
	"verify --memory") words="sc tso rc11" files= ;;
	"verify --format") words="text json" files= ;;
	"explain --order") words="po hb shb cp wcp dc wdc edc" files= ;;
	"explain --format") words="text json" files= ;;
	"graph --kind") words="conflict order" files= ;;
	"graph --order") words="po hb shb cp wcp dc wdc edc" files= ;;
	"replay --first") words="1 2" files= ;;
	"explore --memory") words="sc tso rc11" files= ;;
	"explore --format") words="text json sarif quickfix" files= ;;
	"shake --strategy") words="auto pairs feedback periods pause random pct noise rr pos surw turns" files= ;;
	"shake --memory") words="sc tso rc11" files= ;;
	"shake --format") words="text json" files= ;;
	"orders --format") words="text json" files= ;;
	"convert --to") words="std text binary perfetto csv" files= ;;
	"filter --to") words="std text binary" files= ;;
	"filter --for") words="hb wcp" files= ;;
	"filter --format") words="text json" files= ;;
	"diff --analysis") words="auto lockset hb shb cp wcp dc wdc syncp m2 smt rdit" files= ;;
	"diff --format") words="text json sarif quickfix" files= ;;
	"merge --format") words="text json sarif quickfix" files= ;;
	"spec --format") words="text json" files= ;;
	"lesson --format") words="text json" files= ;;
	*) if [ "${current#-}" != "$current" ]; then case "${COMP_WORDS[1]}" in
	check) words="--budget --runs --before --check --expect --spec --no-harm --timeout --output --shard --jobs --resume --baseline --suppressions --lenient --format --help --quiet --version" ;;
	fix-check) words="--budget --runs --before --check --expect --spec --no-harm --timeout --output --lenient --format --help --quiet --version" ;;
	cc) words="" ;;
	c++) words="" ;;
	record) words="--output --children --before --mode --strategy --depth --steps --target --turns --seed --memory --spec --max-size --compress --last --live --no-trace --report --suppressions --start-at --filter --sample --no-values --no-edc --no-missing --no-inputs --help --quiet --version" ;;
	open) words="--exe --spec --report --at --notes --script --lenient --help --quiet --version" ;;
	info) words="--lenient --format --help --quiet --version" ;;
	doctor) words="--format --help --quiet --version" ;;
	races) words="--analysis --pairs --candidates --verdicts --witness --values --missing --budget --spec --shard --jobs --resume --witness-events --baseline --suppressions --lenient --format --help --quiet --version" ;;
	deadlocks) words="--pairs --verdicts --missing --values --budget --baseline --suppressions --lenient --format --help --quiet --version" ;;
	commute) words="--spec --analysis --linearizable --pairs --direct --bounded --verdicts --budget --baseline --suppressions --lenient --format --help --quiet --version" ;;
	atomic) words="--spec --cycles --predict --output --budget --sets --post-mortem --split --heap --all --baseline --suppressions --lenient --format --help --quiet --version" ;;
	compare) words="--analyses --lenient --format --help --quiet --version" ;;
	witness) words="--output --values --missing --budget --spec --lenient --format --help --quiet --version" ;;
	verify) words="--spec --memory --lenient --format --help --quiet --version" ;;
	explain) words="--order --spec --story --missing --lenient --format --help --quiet --version" ;;
	graph) words="--kind --output --order --spec --cycles --lenient --help --quiet --version" ;;
	replay) words="--witness --trace --before --first --until --output --gdb --gdb-server --dap --spec --timeout --lenient --help --quiet --version" ;;
	explore) words="--output --before --spec --results --linearizable --symmetry --runs --budget --seed --final --check --steps --resume --shard --jobs --memory --order --bound --spurious --until-error --timeout --format --help --quiet --version" ;;
	shake) words="--runs --before --seed --strategy --target --turns --until-error --tries --depth --steps --memory --timeout --budget --shard --jobs --resume --format --help --quiet --version" ;;
	orders) words="--runs --budget --pairs --format --help --quiet --version" ;;
	convert) words="--to --lenient --help --quiet --version" ;;
	filter) words="--output --to --for --check --lenient --format --help --quiet --version" ;;
	diff) words="--analysis --spec --values --missing --budget --lenient --format --help --quiet --version" ;;
	merge) words="--lenient --tasks --output --baseline --format --help --quiet --version" ;;
	spec) words="--format --help --quiet --version" ;;
	lesson) words="--directory --text --worksheet --restart --new --check --play --class --format --help --quiet --version" ;;
	esac
	elif [ "${COMP_WORDS[1]}" = lesson ]; then
		words=$(heddle lesson --format json 2>/dev/null | sed -n 's/^ *"name": "\(.*\)",$/\1/p')
	elif [ "${COMP_WORDS[1]} $COMP_CWORD" = "spec 2" ]; then
		words="check points" files=
	fi ;;
	esac; fi
	COMPREPLY=($(compgen -W "$words" $files -- "$current"))
}
complete -o filenames -F _heddle heddle
