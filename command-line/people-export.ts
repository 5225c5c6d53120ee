import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import { readEnds } from '#shared/erasure/events-since.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { OpenParts } from '#shared/person-export/section.ts';
import { sectionsOf } from '#shared/person-export/sections.ts';
import { type Format, writeExport } from '#shared/person-export/write.ts';
import { createSecurityLog } from '../auth/security/security-log.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { type Erasing, withErasures } from './erasure.ts';
import { recordCommand } from './record-command.ts';
import type { Terminal } from './terminal.ts';

export const peopleExport: Command = {
  name: 'people export',
  summary: 'Exports everything that is stored about a user, for the user. The request is an event.',
  positionals: ['<user>'],
  options: {
    html: { type: 'boolean', description: 'Writes a page to read, instead of JSON.' },
    output: {
      type: 'string',
      placeholder: '<file>',
      description: 'A new file, which only you can read; by default the standard output.',
    },
  },
  examples: [
    'people export 114959438452129 --output ada.json',
    'people export 114959438452129 --html --output ada.html',
  ],
  run: ({ positionals: [text = ''], flags, values }, terminal) =>
    withErasures(terminal, {}, async (erasing) => {
      const userId = pathId(text) as UserId | undefined;
      if (userId === undefined) throw new UsageError(`<user> must be the id of a user, but is “${text}”`);
      await demandThere(erasing, userId);
      const path = values.get('output')?.at(-1);
      const format = flags.has('html') ? 'html' : 'json';
      if (path === undefined) {
        await recordExport(erasing, userId, format);
        for await (const piece of piecesOf(erasing, { userId, format }, terminal))
          await writeLines(terminal, piece);
        return;
      }
      await using file = await open(path, 'wx', OWNER_ONLY).catch(refuseFile(path));
      await recordExport(erasing, userId, format);
      for await (const piece of piecesOf(erasing, { userId, format }, terminal)) await file.appendFile(piece);
      await file.sync();
      await terminal.write(`Everything about user ${userId} is in ${path}.`);
    }),
};

const OWNER_ONLY = 0o600;

const refuseFile =
  (path: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartRefused(
      code === 'EEXIST'
        ? `${path} exists already: name another file.`
        : `Cannot create ${path}: name a file in a folder that exists and that you may write to.`,
      { cause: error },
    );
  };

const demandThere = async ({ eventLog }: Erasing, userId: UserId): Promise<void> => {
  const { first, deletion } = await readEnds(eventLog, userId);
  if (first === undefined) throw new StartRefused(`There is no user ${userId}.`);
  if (deletion !== undefined)
    throw new StartRefused(
      `User ${userId} was deleted, so there is nothing to export: see “erasure report ${userId}”.`,
    );
};

const ACTOR = 'system:command-line';

const recordExport = async (
  { eventLog, keys, domain, pool }: Erasing,
  userId: UserId,
  format: Format,
): Promise<void> => {
  await recordCommand({ domain, pool, command: 'people export' });
  await createSecurityLog({ eventLog, codec: createCodec({ keys, domain }), domain })(
    { type: 'account.data_exported', data: { userId, format } },
    { actor: ACTOR, client: null, requestId: randomUUID() },
  );
};

type Asked = { readonly userId: UserId; readonly format: Format };

async function* piecesOf(
  erasing: Erasing,
  { userId, format }: Asked,
  { signal, clock }: Terminal,
): AsyncGenerator<string> {
  const heading = {
    userId,
    at: new Date(clock.nowMs()).toISOString(),
    by: ACTOR,
    domain: erasing.domain.name,
  };
  yield* writeExport(
    format,
    heading,
    sectionsOf({ ...erasing, open: await openParts(erasing) }, userId, signal),
  );
}

const openParts = async ({ domain, pool, keys, masterKey }: Erasing): Promise<OpenParts> => {
  if (!serves(domain, 'accounts')) return NO_ACCOUNTS;
  const [{ openPartsOf }, { createRecordSeal }] = await Promise.all([
    import('../auth/person-export/open-parts.ts'),
    import('../auth/storage/seal-record.ts'),
  ]);
  return openPartsOf({ pool, keys, seal: createRecordSeal(masterKey) });
};

async function* nothing(): AsyncGenerator<JsonObject> {}

const NO_ACCOUNTS: OpenParts = {
  passkeys: nothing,
  'personal access tokens': nothing,
  'linked accounts': nothing,
  'sessions and grants': nothing,
};

/** The terminal ends each text with a line break. */
const writeLines = async (terminal: Terminal, piece: string): Promise<void> => {
  if (piece !== '') await terminal.write(piece.replaceAll(/^\n|\n$/g, ''));
};
