import { inWordsOf } from '#kernel/registry/example-kind.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import {
  accountRemovePasskeys,
  accountResetSecondFactor,
  accountUnlink,
  invite,
  passwordLink,
} from './accounts.ts';
import type { Command } from './arguments/command.ts';
import { auditCheck } from './audit-check.ts';
import { auditAccept, auditReject, auditTrustLog } from './audit-decide.ts';
import { auditVerify } from './audit-verify.ts';
import {
  clientBlock,
  clientDelete,
  clientGrantScopes,
  clientList,
  clientRotateSecret,
  clientShow,
} from './client-commands.ts';
import { clientCreate } from './client-create.ts';
import { completion } from './completion.ts';
import { demo } from './demo/demo.ts';
import { dev } from './dev.ts';
import { doctor } from './doctor/doctor.ts';
import { domainCheck } from './domain/check.ts';
import { domainDescribe } from './domain/describe.ts';
import { domainNginx } from './domain/nginx.ts';
import { domainRecord } from './domain/record.ts';
import { domainRename } from './domain/rename.ts';
import { erasureApply, erasureList, erasureReport } from './erasure.ts';
import { erasureLostKeys } from './erasure-lost-keys.ts';
import { events } from './events/events.ts';
import { eventsProof } from './events/proof.ts';
import { eventsShow } from './events/show.ts';
import { documentsList, documentsLoad, documentsRemove, graphqlSchema } from './graphql.ts';
import type { Group } from './help.ts';
import { holds } from './holds.ts';
import { importFile } from './import-history.ts';
import { token } from './installation/token.ts';
import { itemsProof } from './items/proof.ts';
import { auditRotateKey, keysRotate } from './keys-rotate.ts';
import { logAcceptServer } from './log-accept-server.ts';
import { logAppend } from './log-append.ts';
import { auditArchive, logArchive } from './log-archive.ts';
import { logCopy } from './log-copy.ts';
import { logRenew } from './log-renew.ts';
import { logShow, logTail } from './log-tail.ts';
import { logExport, logImport } from './log-transfer.ts';
import { newAggregate } from './new-aggregate.ts';
import { newField } from './new-field.ts';
import { open } from './open.ts';
import { peopleExport } from './people-export.ts';
import { processManagerParked, processManagerRetry, processManagerSkip, timers } from './process-manager.ts';
import { projectionStatus } from './projection.ts';
import { projectionParked, projectionRelease, projectionRetry } from './projection-parked.ts';
import { projectionRebuild, projectionRollback } from './projection-rebuild.ts';
import { inboxRefused } from './refused-messages.ts';
import { replay } from './replay.ts';
import { retentionPlan } from './retention.ts';
import { schedules, schedulesRun } from './schedules.ts';
import { settings } from './settings.ts';
import { status } from './status.ts';
import { usersDeactivate } from './users/deactivate.ts';
import {
  usersFind,
  usersInvite,
  usersList,
  usersReactivate,
  usersRole,
  usersSessions,
  usersShow,
} from './users/users.ts';
import { deliveriesList, deliveriesShow } from './webhooks/deliveries.ts';
import { deliveriesResend, deliveriesResendFailed } from './webhooks/resend.ts';
import {
  webhooksDisable,
  webhooksEnable,
  webhooksList,
  webhooksShow,
  webhooksTest,
} from './webhooks/webhooks.ts';
import { witnessInit, witnessKeys } from './witness/keys.ts';
import { witnessAdd, witnessLogs, witnessRemove } from './witness/logs.ts';
import { witness } from './witness/serve.ts';

/** Commands of a part. Without it, they are neither listed nor run. */
const of = (part: PartName, commands: readonly Command[]): readonly Command[] =>
  commands.map((command) => ({ ...command, part }));

/** Of an installation with all parts. */
const GROUPS: readonly Group[] = [
  [
    'Begin',
    [
      ...[dev, demo, open],
      ...of('accounts', [token]),
      settings,
      newAggregate,
      newField,
      completion((domain) => groupsOf(domain).flatMap(([, commands]) => commands)),
    ],
  ],
  ['Installation', [status, doctor]],
  ['Events', [events, eventsShow, ...of('proof', [eventsProof, itemsProof])]],
  ['Webhooks', of('webhooks', [webhooksList, webhooksShow, webhooksEnable, webhooksDisable, webhooksTest])],
  ['Deliveries', of('webhooks', [deliveriesList, deliveriesShow, deliveriesResend, deliveriesResendFailed])],
  ['Inbox', of('inbox', [inboxRefused])],
  [
    'Event log',
    [
      ...[logTail, logShow, importFile, logExport, logImport, logCopy, logRenew, logAcceptServer, logAppend],
      ...of('proof', [logArchive]),
    ],
  ],
  [
    'Proof',
    [
      ...of('proof', [auditVerify, auditCheck, auditArchive]),
      replay,
      ...of('proof', [auditRotateKey, auditAccept, auditReject, auditTrustLog]),
    ],
  ],
  ['Witness', of('proof', [witness, witnessInit, witnessKeys, witnessAdd, witnessRemove, witnessLogs])],
  [
    'Read model',
    [
      projectionStatus,
      projectionRebuild,
      projectionRollback,
      projectionParked,
      projectionRetry,
      projectionRelease,
    ],
  ],
  [
    'Reactions, timers and schedules',
    [
      ...[processManagerParked, processManagerRetry, processManagerSkip],
      ...[timers, schedules, schedulesRun, retentionPlan, holds],
    ],
  ],
  [
    'Users',
    [
      usersList,
      usersFind,
      usersShow,
      ...of('accounts', [usersInvite]),
      usersRole,
      ...of('accounts', [usersSessions, usersDeactivate, usersReactivate]),
    ],
  ],
  [
    'Accounts, at the machine',
    of('accounts', [invite, passwordLink, accountResetSecondFactor, accountRemovePasskeys, accountUnlink]),
  ],
  [
    'Clients and keys',
    [
      ...of('accounts', [
        clientCreate,
        clientBlock,
        clientList,
        clientShow,
        clientGrantScopes,
        clientRotateSecret,
        clientDelete,
      ]),
      keysRotate,
    ],
  ],
  ['Personal data', [peopleExport, erasureList, erasureReport, erasureApply, erasureLostKeys]],
  ['Domain', [domainDescribe, domainNginx, domainCheck, domainRecord, domainRename]],
  ['GraphQL', of('graphql', [graphqlSchema, documentsLoad, documentsList, documentsRemove])],
];
export const COMMANDS: readonly Command[] = GROUPS.flatMap(([, commands]) => commands);

/** The commands of an installation, in the words of its domain. */
export const groupsOf = (domain: Domain): readonly Group[] =>
  GROUPS.flatMap(([title, commands]): readonly Group[] => {
    const served = commands.filter(({ part }) => part === undefined || serves(domain, part));
    return served.length === 0 ? [] : [[title, served.map((command) => inWords(command, domain))]];
  });

/** Texts and option names refer to the aggregates of this domain. */
export const inWords = ({ summary, options, examples, ...command }: Command, domain: Domain): Command => ({
  ...command,
  summary: inWordsOf(domain, summary),
  options: Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      inWordsOf(domain, name),
      { ...option, description: inWordsOf(domain, option.description) },
    ]),
  ),
  examples: examples.map((example) => inWordsOf(domain, example)),
});
