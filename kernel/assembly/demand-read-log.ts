import { READERS } from '../conditions/rights.ts';
import { eachKind, type Sentences } from './refusals.ts';

const IF_UNWRITABLE: ReadonlySet<string> = new Set(['refuse', 'serve']);

/** A misspelt field would be read without a trace. */
export const demandReadLog = eachKind(function* ({ rights, reads, commands, fields, lists }): Sentences {
  if (reads === undefined) {
    if (rights[READERS] !== undefined && commands[READERS] === undefined)
      yield `the right ${READERS} names who may read the log of reads, but reads are not logged: add \`reads: 'logged'\`, or remove the right.`;
    return;
  }
  if (commands[READERS] !== undefined)
    yield `the command ${READERS} has the name of a right: give it another name.`;
  if (lists[READERS] !== undefined)
    yield `the list ${READERS} has the path of the log of reads: give it another name.`;
  if (!IF_UNWRITABLE.has(reads.ifUnwritable))
    yield `\`reads\` has \`ifUnwritable\` ${reads.ifUnwritable}: write 'refuse' or 'serve'.`;
  if (reads.only === undefined) return;
  if (reads.only.length === 0) yield "`reads` logs no field: name one, or write `log: 'all'`.";
  const unknown = reads.only.find((name) => !Object.hasOwn(fields, name) && !Object.hasOwn(lists, name));
  if (unknown !== undefined)
    yield `\`reads\` logs ${unknown}, which is neither a field nor a list: name one of ${[...Object.keys(fields), ...Object.keys(lists)].join(', ')}.`;
});
