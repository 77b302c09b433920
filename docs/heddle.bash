# bash completion for heddle; made by docs/manual.sh, do not edit
_heddle() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
	if [ "$COMP_CWORD" = 1 ]; then
		words="open atomic commute spec cc c++ info convert filter deadlocks races witness verify record graph replay explain compare shake explore doctor lesson"
	else case "${COMP_WORDS[1]}" in
	open) words="--exe --spec --report --at --script --lenient --help --quiet" ;;
	atomic) words="--spec --cycles --predict --output --budget --sets --post-mortem --split --heap --all --lenient --format --help --quiet" ;;
	commute) words="--spec --analysis --pairs --direct --bounded --verdicts --budget --lenient --format --help --quiet" ;;
	spec) words="--format --help --quiet" ;;
	cc) words="" ;;
	c++) words="" ;;
	info) words="--lenient --format --help --quiet" ;;
	convert) words="--to --lenient --help --quiet" ;;
	filter) words="--output --to --for --lenient --format --help --quiet" ;;
	deadlocks) words="--pairs --verdicts --missing --values --budget --lenient --format --help --quiet" ;;
	races) words="--analysis --pairs --candidates --verdicts --witness --values --missing --budget --spec --shard --lenient --format --help --quiet" ;;
	witness) words="--output --values --missing --budget --spec --lenient --format --help --quiet" ;;
	verify) words="--spec --lenient --format --help --quiet" ;;
	record) words="--output --mode --strategy --depth --steps --seed --spec --max-size --compress --last --start-at --no-values --help --quiet" ;;
	graph) words="--kind --output --order --spec --cycles --lenient --help --quiet" ;;
	replay) words="--witness --trace --first --until --gdb --spec --lenient --help --quiet" ;;
	explain) words="--order --spec --lenient --format --help --quiet" ;;
	compare) words="--analyses --lenient --format --help --quiet" ;;
	shake) words="--runs --seed --strategy --depth --steps --timeout --format --help --quiet" ;;
	explore) words="--output --runs --budget --timeout --format --help --quiet" ;;
	doctor) words="--help --quiet" ;;
	lesson) words="--directory --text --check --play --format --help --quiet" ;;
	esac; fi
	if [ "${current#-}" = "$current" ] && [ "$COMP_CWORD" != 1 ]; then words=; fi
	COMPREPLY=($(compgen -W "$words" -f -- "$current"))
}
complete -o filenames -F _heddle heddle
