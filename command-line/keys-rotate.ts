import { migrateAudit } from '#shared/audit/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { ensureSigningKey, OVERLAP_S, rotateSigningKeys } from '../auth/signing-keys/signing-keys.ts';
import { migrateSigningKeys } from '../auth/signing-keys/statements.ts';
import { rotateAuditKey } from '../proof/stored/signing-keys.ts';
import { type Command, numberOf } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';

const OVERLAP_MAX_S = 86_400;

export const keysRotate: Command = {
  name: 'keys rotate',
  summary:
    'Creates a new signing key for tokens. It is published now and signs after an overlap, without a restart.',
  positionals: [],
  options: {
    overlap: {
      type: 'string',
      placeholder: '<seconds>',
      description: `How long it is published before it signs; by default ${OVERLAP_S}. The very first key signs at once.`,
    },
    first: {
      type: 'boolean',
      description: 'Creates a key only if there is none yet, as before the first start in production.',
    },
  },
  examples: ['keys rotate', 'keys rotate --overlap 60', 'keys rotate --first'],
  async run(given, terminal) {
    const overlapS = numberOf(given, 'overlap', { minimum: 0, maximum: OVERLAP_MAX_S }) ?? OVERLAP_S;
    await using installation = await openInstallation(terminal, { mayBegin: given.flags.has('first') });
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 1,
    });
    await migrateSigningKeys(pool);
    const masterKey = await openMasterKey(installation.config);
    if (given.flags.has('first')) {
      const isCreated = await ensureSigningKey({ pool, masterKey });
      return terminal.write(
        isCreated ? 'The first signing key is created.' : 'There already is a signing key.',
      );
    }
    const { kid, signsFrom } = await rotateSigningKeys({ pool, masterKey }, { overlapS });
    await terminal.write(`Key ${kid} is published, and signs from ${signsFrom.toISOString()} on.`);
  },
};

export const auditRotateKey: Command = {
  name: 'audit rotate-key',
  summary:
    'Creates a new signing key for chain heads, endorsed by the current one. It signs from the next head on.',
  positionals: [],
  options: {},
  examples: ['audit rotate-key'],
  async run(_given, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 1,
    });
    await migrateAudit(pool);
    const id = await rotateAuditKey({ pool, masterKey: await openMasterKey(installation.config) });
    await terminal.write(`Key ${id} signs the heads from now on.`);
  },
};
