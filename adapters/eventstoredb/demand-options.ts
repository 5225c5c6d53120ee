import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { optionsIn } from './address.ts';

/** The client names the whole address, with the password, in a warning of its own about any other. */
const OPTIONS: ReadonlySet<string> = new Set(
  [
    ...['tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', 'nodePreference'],
    ...['maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'dnsDiscover', 'throwOnAppendFailure'],
    ...['defaultDeadline', 'keepAliveInterval', 'keepAliveTimeout'],
  ].map((name) => name.toLowerCase()),
);
const FILES = ['tlsCAFile', 'userCertFile', 'userKeyFile'];

/** Refuses what the client would ignore, or report as an invalid address. */
export const demandOptions = (url: string): void => {
  const options = optionsIn(url);
  if (options.has('tlsverifycert'))
    throw new StartRefused(
      'tlsVerifyCert in EVENT_LOG_URL has no effect: remove it, and name the file with the certificate of the authority in tlsCAFile',
    );
  const unknown = [...options.keys()].find((name) => !OPTIONS.has(name));
  if (unknown !== undefined)
    throw new StartRefused(`EVENT_LOG_URL has the unknown option ${unknown}: remove it, or correct its name`);
  for (const name of FILES) demandFile(name, options.get(name.toLowerCase()));
};

const demandFile = (option: string, value: string | undefined): void => {
  if (value === undefined) return;
  const file = resolve(decodeURIComponent(value));
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new StartRefused(
      `${option} in EVENT_LOG_URL is ${file}, which cannot be read: give the path of a PEM file that this user may read`,
      { cause },
    );
  }
};
