import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { SETTINGS, type SettingName } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of all settings; a default that another value decides is undefined. */
export type Values = {
  readonly [Name in SettingName]:
    | z.output<(typeof SETTINGS)[Name]['schema']>
    | Fallback<(typeof SETTINGS)[Name]>;
};

type Fallback<Setting> = Setting extends { fallback: string } ? never : undefined;

/**
 * An empty variable counts as unset, because compose files and shells pass unset variables on as empty ones.
 */
export const readSettings = (environment: Environment, problems: string[]): Values => {
  const entries = (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const setting: (typeof SETTINGS)[SettingName] & { fallback?: string; secret?: boolean | 'path' } =
      SETTINGS[name];
    const { text: given, problem } = settingText(environment, name, { isSecret: isSecret(name) });
    if (problem !== undefined) problems.push(problem);
    const text = given ?? setting.fallback;
    const result = text === undefined ? undefined : setting.schema.safeParse(text);
    if (result?.success === false)
      problems.push(
        `${name} ${setting.secret ? '' : `is “${text}” and `}must be ${setting.expected}${placeOf(result.error)}.`,
      );
    return [name, result?.data] as const;
  });
  // Each value came from the schema of its name, which the compiler cannot see through `Object.fromEntries`.
  return Object.fromEntries(entries) as Values;
};

/** Where the first problem is within a structured value: the path names no value, which may be a secret. */
const placeOf = ({ issues: [issue] }: z.ZodError): string =>
  issue === undefined || issue.path.length === 0 ? '' : `; “${issue.path.map(stepOf).join('.')}” is wrong`;
const stepOf = (step: PropertyKey): string => (typeof step === 'number' ? String(step + 1) : String(step));

/**
 * The value of a setting: from the environment, or for a secret from the file that `NAME_FILE` names, because
 * container runtimes mount secrets as files, out of environments that others can see. Empty counts as unset.
 */
const settingText = (
  environment: Environment,
  name: string,
  { isSecret }: { readonly isSecret: boolean },
): { readonly text?: string; readonly problem?: string } => {
  const given = environment[name] || undefined;
  const path = isSecret ? environment[`${name}_FILE`] || undefined : undefined;
  if (path === undefined) return given === undefined ? {} : { text: given };
  if (given !== undefined) return { problem: `${name} and ${name}_FILE are both set: set one of them.` };
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? { problem: `${name}_FILE names ${path}, which is empty.` } : { text };
  } catch (error) {
    return {
      problem: `${name}_FILE names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    };
  }
};

/** A secret that the domain names; undefined if it is unset. */
export const readOwnSetting = (environment: Environment, name: string): string | undefined => {
  if (Object.hasOwn(SETTINGS, name.replace(/_FILE$/, '')))
    throw new ConfigError([`${name} is a setting of Annals: let the domain name another one.`]);
  const { text, problem } = settingText(environment, name, { isSecret: true });
  if (problem !== undefined) throw new ConfigError([problem]);
  return text;
};

const isSecret = (name: SettingName): boolean => {
  const setting: (typeof SETTINGS)[SettingName] & { readonly secret?: boolean | 'path' } = SETTINGS[name];
  return setting.secret === true;
};

/** `EX_CONFIG` of sysexits.h: a restart without a change is useless. */
const EX_CONFIG = 78;

/** Missing or invalid settings, each in one sentence. */
export class ConfigError extends StartRefused {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), { exitCode: EX_CONFIG });
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
