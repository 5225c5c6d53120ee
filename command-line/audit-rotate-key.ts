import { migrateAudit } from '#shared/audit/migrate.ts';
import { rotateAuditKey } from '#shared/audit/signing-keys.ts';
import { openPool } from '#shared/database/pool.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';

export const auditRotateKey: Command = {
  name: 'audit rotate-key',
  summary: 'Makes a new key to sign the heads of the chain with, endorsed by the key before it; it signs from the next head on.',
  positionals: [],
  options: {},
  examples: ['audit rotate-key'],
  async run(_given, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({ url: installation.databaseUrl, applicationName: 'annals-command-line', connectionsMax: 1 });
    await migrateAudit(pool);
    const id = await rotateAuditKey({ pool, masterKey: await openMasterKey(installation.config) });
    await terminal.write(`Key ${id} signs the heads from now on.`);
  },
};
