import { StartRefused } from '#kernel/base/start-refused.ts';
import { openPool } from '#shared/database/pool.ts';
import { readServedDomain, renameServedDomain } from '#shared/served-domain/served-domain.ts';
import type { Command } from '../arguments/command.ts';
import { openInstallation } from '../installation/installation.ts';

export const domainRename: Command = {
  name: 'domain rename',
  summary: 'Renames the domain of the existing data to the name that is declared now.',
  positionals: ['<former name>'],
  options: {},
  examples: ['domain rename meetups'],
  async run({ positionals: [from = ''] }, terminal) {
    const { name } = terminal.domain;
    await using installation = await openInstallation(terminal, { mayBeOfAnother: true });
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals',
      connectionsMax: 1,
    });
    const served = await readServedDomain(pool);
    if (served === undefined)
      throw new StartRefused('No domain was started on this data yet: start it to record its name.');
    if (!(await renameServedDomain(pool, { from, to: name })))
      throw new StartRefused(`The data here belongs to ${served}, not to ${from}.`);
    await terminal.write(
      `The data of ${from} now belongs to ${name}. Running processes continue; restart them under the new name.`,
    );
  },
};
