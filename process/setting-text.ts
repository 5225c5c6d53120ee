import { readFileSync } from 'node:fs';
import { SETTINGS, type SettingName } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The value of a setting: from the environment, or for a secret from the file that `NAME_FILE` names, because
 * container runtimes mount secrets as files, out of environments that others can see. Empty counts as unset.
 */
export const settingText = (
  environment: Environment,
  name: SettingName,
): { readonly text?: string; readonly problem?: string } => {
  const given = environment[name] || undefined;
  const path = isSecret(name) ? environment[`${name}_FILE`] || undefined : undefined;
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

const isSecret = (name: SettingName): boolean => {
  const setting: (typeof SETTINGS)[SettingName] & { readonly secret?: boolean | 'path' } = SETTINGS[name];
  return setting.secret === true;
};
