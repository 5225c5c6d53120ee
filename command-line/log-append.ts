import { randomUUID } from 'node:crypto';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openPool } from '#shared/database/pool.ts';
import { AppendTooLarge, InvalidAppend, StaleVersion } from '#shared/event-log/errors.ts';
import type { ExpectedVersion } from '#shared/event-log/event-log.ts';
import { type AnyEvent, catalogueOf } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import { MalformedEvent } from '#shared/events/errors.ts';
import { KeyDestroyed } from '#shared/keys/key-store.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { type Command, type Given, numberOf } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { type Installation, openInstallation } from './installation/installation.ts';

export const logAppend: Command = {
  name: 'log append',
  summary: 'Appends one event without checking the rules of the domain (development only).',
  positionals: ['<stream>', '<type>', '<json>'],
  options: {
    expected: {
      type: 'string',
      placeholder: '<version>',
      description: 'Refuses unless the stream has this version; 0 means that the stream must not exist yet.',
    },
  },
  examples: [`log append user-7 user.updated '{"userId":7,"name":"Ada"}' --expected 1`],
  async run(given, terminal) {
    const { stream, event, expected } = readRequest(given, terminal.domain);
    await using installation = await openInstallation(terminal);
    if (installation.config.environment !== 'development') {
      throw new StartRefused(
        'Events are appended by hand in development only: in production every change is a command.',
      );
    }
    const { version, position } = await append(
      { ...installation, domain: terminal.domain },
      { stream, event, expected },
    );
    await terminal.write(`${stream} is at version ${version}, the log at position ${position}.`);
  },
};

type Request = { readonly stream: StreamName; readonly event: AnyEvent; readonly expected: ExpectedVersion };

const readRequest = (given: Given, domain: Domain): Request => {
  const [stream = '', type = '', json = ''] = given.positionals;
  if (catalogueOf(domain).find(type) === undefined)
    throw new UsageError(`<type>: there is no event type “${type}”`);
  const expected = numberOf(given, 'expected', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
  // The codec checks the data against the definition of the type.
  const event = { type, data: parseJson(json) } as AnyEvent;
  return {
    stream: stream as StreamName,
    event,
    expected: expected === undefined ? 'any' : (expected as Version),
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError('<json> is not JSON');
  }
};

type Appending = Pick<Installation, 'config' | 'databaseUrl' | 'eventLog'> & { readonly domain: Domain };

const append = async (
  { domain, config, databaseUrl, eventLog }: Appending,
  { stream, event, expected }: Request,
) => {
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: 1,
  });
  await using keys = await openPostgresKeyStore({ pool, masterKey: await openMasterKey(config) });
  try {
    const encoded = await createCodec({ keys, domain }).encode(
      event,
      metadataNow(),
      randomUUID() as EventId,
      stream,
    );
    return await eventLog.append(stream, expected, [encoded]);
  } catch (error) {
    if (EXPLAINED.some((kind) => error instanceof kind))
      throw new StartRefused(`${(error as Error).message}.`, { cause: error });
    throw error;
  }
};

/** These errors already explain what is wrong with the event or its stream. */
const EXPLAINED = [StaleVersion, InvalidAppend, AppendTooLarge, MalformedEvent, KeyDestroyed];

const metadataNow = (): MetadataContext => {
  const request = randomUUID();
  return {
    at: new Date().toISOString(),
    actor: 'system:command-line',
    client: null,
    request,
    correlation: request,
    causation: null,
  };
};
