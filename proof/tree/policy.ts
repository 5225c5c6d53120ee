import { parseWitnessKey, textOfWitnessKey, type WitnessKey } from './cosignature.ts';
import { type NoteKey, parseVerifierKey } from './note.ts';

/** Which logs somebody trusts, and which witnesses must have cosigned a head (C2SP tlog-policy). */
export type Policy = {
  readonly logs: readonly NoteKey[];
  readonly witnesses: readonly PolicyWitness[];
  /** The name of the witness or the group that must have cosigned; `none` if nobody must. */
  readonly quorum: string;
  /** Whether these witnesses, by their names in the policy, are enough. */
  isReached(cosigned: ReadonlySet<string>): boolean;
};

export type PolicyWitness = {
  /** Its name in the policy, and nowhere else. */
  readonly name: string;
  readonly key: WitnessKey;
  readonly url: string | undefined;
};

/** A sentence that says which line is wrong. */
export class PolicyWrong extends Error {
  constructor(line: number | undefined, message: string) {
    super(line === undefined ? `The policy ${message}.` : `Line ${line} of the policy ${message}.`);
    this.name = 'PolicyWrong';
  }
}

const CHARACTERS_MAX = 1_048_576;
const NAMES_MAX = 1_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;
const NONE = 'none';

const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
/** The last label of a name begins with a letter: otherwise it is a number of some form. */
const NAME = `(?:${LABEL}\\.)*(?=[a-z])${LABEL}\\.?`;
const IPV4 = '(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\\.(?=[0-9])|(?=[:/]|$))){4}';
const GROUP = '[0-9a-f]{1,4}';
const GROUPS = `(?:${GROUP}(?::${GROUP})*)?`;
const IPV6 = `\\[(?:(?:${GROUP}:){7}${GROUP}|(?=(?::{0,2}${GROUP}){0,7}:{0,2}\\])${GROUPS}::${GROUPS})\\]`;
const PORT = '(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})';
/** Less than browsers accept, so that other programs, as verify-proof.py, can accept the same. */
const ADDRESS = new RegExp(
  `^https?://(?:${NAME}|${IPV4}|${IPV6})(?::${PORT})?(?:/[a-z0-9._~%!$&'()*+,;=:/-]*)?$`,
  'i',
);

type Rule = (cosigned: ReadonlySet<string>) => boolean;

export const parsePolicy = (text: string): Policy => {
  if (text.length > CHARACTERS_MAX) throw new PolicyWrong(undefined, 'is too long');
  if (CONTROL.test(text)) throw new PolicyWrong(undefined, 'has control characters');
  const reader = new Reader();
  for (const [at, line] of text.split('\n').entries()) reader.take(at + 1, line);
  return reader.policy();
};

/** Takes line by line, because each may name only what was defined before it. */
class Reader {
  readonly #logs: NoteKey[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #rules = new Map<string, Rule>();
  readonly #keys = new Set<string>();
  readonly #members = new Set<string>();
  readonly #lines = new Map<string, (words: readonly string[]) => void>([
    ['log', (words) => this.#log(words)],
    ['witness', (words) => this.#witness(words)],
    ['group', (words) => this.#group(words)],
    ['quorum', (words) => this.#setQuorum(words)],
  ]);
  #quorum: string | undefined;
  #line = 0;

  take(line: number, text: string): void {
    this.#line = line;
    const [word, ...others] = text.split(/[ \t]+/).filter((part) => part !== '');
    if (word === undefined || word.startsWith('#')) return;
    if (this.#rules.size > NAMES_MAX || this.#logs.length > NAMES_MAX) throw this.#wrong('is one too many');
    const define = this.#lines.get(word);
    if (define === undefined)
      throw this.#wrong(`begins with “${word}”, and not with log, witness, group or quorum`);
    define(others);
  }

  policy(): Policy {
    const quorum = this.#quorum;
    if (quorum === undefined) throw new PolicyWrong(undefined, 'has no line “quorum”');
    const rule = this.#rules.get(quorum) ?? (() => true);
    return { logs: this.#logs, witnesses: this.#witnesses, quorum, isReached: rule };
  }

  #log([vkey = '', url, ...more]: readonly string[]): void {
    const key = parseVerifierKey(vkey);
    if (key === undefined) throw this.#wrong(`has no key of a log: “${vkey}”`);
    if (more.length > 0) throw this.#wrong('has more than a key and an address');
    this.#own(key.publicKey);
    this.#urlOf(url);
    this.#logs.push(key);
  }

  #witness([name = '', vkey = '', url, ...more]: readonly string[]): void {
    this.#define(name, (cosigned) => cosigned.has(name));
    const key = parseWitnessKey(vkey);
    if (key === undefined) throw this.#wrong(`has no key of a witness that this Node can check: “${vkey}”`);
    if (more.length > 0) throw this.#wrong('has more than a name, a key and an address');
    this.#own(key.publicKey);
    this.#witnesses.push({ name, key, url: this.#urlOf(url) });
  }

  #group([name = '', threshold = '', ...members]: readonly string[]): void {
    const rules = members.map((member) => this.#member(member));
    const needed = { any: 1, all: members.length }[threshold] ?? Number(threshold);
    if (!/^(any|all|[1-9]\d{0,3})$/.test(threshold) || needed < 1 || needed > members.length)
      throw this.#wrong(`needs any, all, or a number from 1 to that of its members: “${threshold}”`);
    this.#define(name, (cosigned) => rules.filter((rule) => rule(cosigned)).length >= needed);
  }

  #setQuorum([name = '', ...more]: readonly string[]): void {
    if (this.#quorum !== undefined) throw this.#wrong('is a second line “quorum”');
    if (more.length > 0) throw this.#wrong('has more than one name');
    if (name !== NONE && !this.#rules.has(name)) throw this.#wrong(`names “${name}”, which is not defined`);
    this.#quorum = name;
  }

  #define(name: string, rule: Rule): void {
    if (name === '' || name === NONE || this.#rules.has(name))
      throw this.#wrong(`has a name that is taken or missing: “${name}”`);
    this.#rules.set(name, rule);
  }

  /** Each name is in one group, so that no witness counts twice. */
  #member(name: string): Rule {
    const rule = this.#rules.get(name);
    if (rule === undefined) throw this.#wrong(`names “${name}”, which is not defined before it`);
    if (this.#members.has(name)) throw this.#wrong(`names “${name}”, which is in a group already`);
    this.#members.add(name);
    return rule;
  }

  #own(publicKey: Buffer): void {
    const key = publicKey.toString('base64');
    if (this.#keys.has(key)) throw this.#wrong('has a key that another line has');
    this.#keys.add(key);
  }

  #urlOf(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    if (!ADDRESS.test(text))
      throw this.#wrong(`has an address that is no http or https URL of a witness or a log: “${text}”`);
    return (URL.parse(text)?.href ?? text).replace(/\/+$/, '');
  }

  #wrong(message: string): PolicyWrong {
    return new PolicyWrong(this.#line, message);
  }
}

/** A line of a policy, as `annals witness keys` prints it. */
export const policyLineOf = ({ name, key, url }: PolicyWitness): string =>
  ['witness', name, textOfWitnessKey(key), ...(url === undefined ? [] : [url])].join(' ');
