# bash completion for heddle; made by docs/manual.sh, do not edit
_heddle() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
	if [ "$COMP_CWORD" = 1 ]; then
		words="open atomic commute spec cc c++ info convert deadlocks races witness verify record"
	else case "${COMP_WORDS[1]}" in
	open) words="--exe --spec --report --at --script --lenient --help --quiet" ;;
	atomic) words="--cycles --predict --budget --all --lenient --format --help --quiet" ;;
	commute) words="--spec --analysis --pairs --direct --verdicts --budget --lenient --format --help --quiet" ;;
	spec) words="--format --help --quiet" ;;
	cc) words="" ;;
	c++) words="" ;;
	info) words="--lenient --format --help --quiet" ;;
	convert) words="--to --lenient --help --quiet" ;;
	deadlocks) words="--pairs --verdicts --missing --values --budget --lenient --format --help --quiet" ;;
	races) words="--analysis --pairs --candidates --verdicts --witness --values --missing --budget --shard --lenient --format --help --quiet" ;;
	witness) words="--output --values --missing --budget --spec --lenient --format --help --quiet" ;;
	verify) words="--spec --lenient --format --help --quiet" ;;
	record) words="--output --mode --strategy --depth --seed --max-size --last --start-at --no-values --help --quiet" ;;
	esac; fi
	if [ "${current#-}" = "$current" ] && [ "$COMP_CWORD" != 1 ]; then words=; fi
	COMPREPLY=($(compgen -W "$words" -f -- "$current"))
}
complete -o filenames -F _heddle heddle
