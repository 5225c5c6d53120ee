import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { type CheckPerson, createCheckPerson } from '#shared/persons/check-person.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { createPersonalTokens, type PersonalTokens } from './personal-tokens.ts';

type Options = Omit<Parameters<typeof createPersonalTokens>[0], 'checkPerson'> & {
  readonly domain: Domain;
  readonly eventLog: EventLog | undefined;
  readonly keys: KeyStore | undefined;
};

/** Opens the check of personal access tokens, for an installation that serves accounts. */
export const openPersonalTokens = ({ domain, eventLog, keys, ...given }: Options): PersonalTokens => {
  const { log, clock } = given;
  return createPersonalTokens({
    ...given,
    checkPerson: checkPersonOf({ domain, eventLog, keys, log, clock }),
  });
};

type Checking = Pick<Options, 'domain' | 'eventLog' | 'keys' | 'log' | 'clock'>;

/** Without the log, no role of a user counts, so no personal access token is accepted. */
const checkPersonOf = ({ domain, eventLog, keys, ...more }: Checking): CheckPerson =>
  eventLog === undefined || keys === undefined
    ? async () => undefined
    : createCheckPerson({
        ...more,
        readPerson: createReadPerson({ domain, eventLog, codec: createCodec({ domain, keys }) }),
      });
