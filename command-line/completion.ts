import type { Domain } from '#kernel/registry/registry.ts';
import { argumentsOf } from './api/call.ts';
import { declaredOperations } from './api/declared.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { REMOTE_OPTIONS } from './remote/remote.ts';

type Completed = Pick<Command, 'name' | 'summary' | 'options'>;

const SHELLS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = {
  bash: (commands) => bashScript(commands),
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`,
  fish: (commands) => fishScript(commands),
};

/** @param load loads all commands, including this one, in the words of a domain */
export const completion = (load: (domain: Domain) => Promise<readonly Completed[]>): Command => ({
  name: 'completion',
  summary:
    'Prints a completion script for bash, zsh or fish. Use npm run -s, so that npm prints nothing else.',
  positionals: ['<shell>'],
  options: {},
  examples: ['completion bash', 'completion fish'],
  async run({ positionals: [shell = ''] }, terminal) {
    const script = SHELLS[shell];
    if (script === undefined)
      throw new UsageError(`<shell> must be ${Object.keys(SHELLS).join(', ')}, but is “${shell}”`);
    const { domain } = terminal;
    await terminal.write(script([...(await load(domain)), ...operationsOf(domain)]));
  },
});

/** A script is printed once, and asks no installation. */
const operationsOf = (domain: Domain): readonly Completed[] =>
  declaredOperations(domain).map((operation) => ({
    name: `api ${operation.id}`,
    summary: operation.summary,
    options: argumentsOf(operation, REMOTE_OPTIONS).options,
  }));

const PROGRAM = 'annals';

/** The possible next words: of a command, or the options of a complete one. */
const continuationsOf = (commands: readonly Completed[]): ReadonlyMap<string, readonly string[]> => {
  const known = new Map<string, Set<string>>([['', new Set(['help'])]]);
  const add = (before: string, next: string) => known.set(before, (known.get(before) ?? new Set()).add(next));
  for (const { name, options } of commands) {
    const words = name.split(' ');
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word);
    for (const option of [...Object.keys(options), 'help']) add(name, `--${option}`);
  }
  return new Map([...known].map(([before, next]) => [before, [...next]]));
};

/** The longest words come first: `log tail --from 3` has the options of `log tail`. */
const bashScript = (commands: readonly Completed[]): string => {
  const cases = [...continuationsOf(commands)]
    .toSorted(([one], [other]) => other.length - one.length)
    .map(
      ([before, next]) =>
        `    ${before === '' ? '""' : `"${before}"|"${before} "*`}) next="${next.join(' ')}" ;;`,
    );
  return `# ${PROGRAM} completion
_${PROGRAM}() {
  local before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" next=""
  before="\${before#help}"
  case "\${before# }" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${PROGRAM} ${PROGRAM}`;
};

const fishScript = (commands: readonly Completed[]): string => {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const seen = (words: readonly string[]): string =>
    words.length === 0
      ? '__fish_use_subcommand'
      : words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
  const line = (words: readonly string[], rest: string): string =>
    `complete -c ${PROGRAM} -f -n ${quoted(seen(words))} ${rest}`;
  const lines = commands.flatMap(({ name, summary, options }) => {
    const words = name.split(' ');
    return [
      ...words.map((word, index) =>
        line(
          words.slice(0, index),
          `-a ${word}${index === words.length - 1 ? ` -d ${quoted(summary)}` : ''}`,
        ),
      ),
      ...Object.entries(options).map(([option, { type, description }]) =>
        line(words, `-l ${option}${type === 'string' ? ' -r' : ''} -d ${quoted(description)}`),
      ),
    ];
  });
  return [`# ${PROGRAM} completion`, ...new Set(lines)].join('\n');
};
