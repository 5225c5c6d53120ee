// Over 200 lines, because it is one list: the commands in their groups.
import { inWordsOf } from '#kernel/registry/example-kind.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Command } from './arguments/command.ts';

/** Loads a command: a call loads the code of one. */
type Load = () => Promise<Command>;
type Loads = Readonly<Record<string, Load>>;
type Entry = { readonly part: PartName | undefined; readonly load: Load };

export type Group = {
  /** Shows the group, as in `help log`. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** By the words that call them. */
  readonly commands: ReadonlyMap<string, Entry>;
};

/** Commands of a part. Without it, they are neither listed nor run. */
const of = (part: PartName, loads: Loads): Readonly<Record<string, Entry>> =>
  Object.fromEntries(Object.entries(loads).map(([name, load]) => [name, { part, load }]));

/** Of an installation with all parts. */
const DECLARED: readonly (Omit<Group, 'commands'> & {
  readonly commands: Readonly<Record<string, Load | Entry>>;
})[] = [
  {
    name: 'begin',
    title: 'Begin',
    summary: 'Develop a domain, start the demonstration, open pages, get a token, and print settings',
    commands: {
      dev: async () => (await import('./dev.ts')).dev,
      demo: async () => (await import('./demo/demo.ts')).demo,
      open: async () => (await import('./open.ts')).open,
      ...of('accounts', {
        token: async () => (await import('./installation/token.ts')).token,
      }),
      settings: async () => (await import('./settings.ts')).settings,
      'new aggregate': async () => (await import('./new-aggregate.ts')).newAggregate,
      'new field': async () => (await import('./new-field.ts')).newField,
      completion: async () => (await import('./completion.ts')).completion(loadAll),
    },
  },
  {
    name: 'installation',
    title: 'Installation',
    summary: 'See whether everything runs, and find what is wrong with a machine',
    commands: {
      status: async () => (await import('./status.ts')).status,
      doctor: async () => (await import('./doctor/doctor.ts')).doctor,
    },
  },
  {
    name: 'api',
    title: 'REST',
    summary: 'Call the operations of the interface',
    commands: {
      api: async () => (await import('./api/api.ts')).api,
    },
  },
  {
    name: 'events',
    title: 'Events',
    summary: 'Search and follow the events of the running installation, and prove them',
    commands: {
      events: async () => (await import('./events/events.ts')).events,
      'events show': async () => (await import('./events/show.ts')).eventsShow,
      ...of('proof', {
        'events proof': async () => (await import('./events/proof.ts')).eventsProof,
        'items proof': async () => (await import('./items/proof.ts')).itemsProof,
      }),
    },
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    summary: 'See the health of webhooks, and test them',
    commands: {
      ...of('webhooks', {
        'webhooks list': async () => (await import('./webhooks/webhooks.ts')).webhooksList,
        'webhooks show': async () => (await import('./webhooks/webhooks.ts')).webhooksShow,
        'webhooks test': async () => (await import('./webhooks/webhooks.ts')).webhooksTest,
      }),
    },
  },
  {
    name: 'deliveries',
    title: 'Deliveries',
    summary: 'Look at deliveries to webhooks, and send them again',
    commands: {
      ...of('webhooks', {
        'deliveries show': async () => (await import('./webhooks/deliveries.ts')).deliveriesShow,
        'deliveries resend': async () => (await import('./webhooks/resend.ts')).deliveriesResend,
        'deliveries resend-failed': async () => (await import('./webhooks/resend.ts')).deliveriesResendFailed,
      }),
    },
  },
  {
    name: 'inbox',
    title: 'Inbox',
    summary: 'List refused messages of senders',
    commands: {
      ...of('inbox', {
        'inbox refused': async () => (await import('./refused-messages.ts')).inboxRefused,
      }),
    },
  },
  {
    name: 'log',
    title: 'Event log',
    summary: 'Read, export, import, copy and archive the event log',
    commands: {
      'log tail': async () => (await import('./log-tail.ts')).logTail,
      'log show': async () => (await import('./log-tail.ts')).logShow,
      import: async () => (await import('./import-history.ts')).importFile,
      'log export': async () => (await import('./log-transfer.ts')).logExport,
      'log import': async () => (await import('./log-transfer.ts')).logImport,
      'log copy': async () => (await import('./log-copy.ts')).logCopy,
      'log renew': async () => (await import('./log-renew.ts')).logRenew,
      'log accept-server': async () => (await import('./log-accept-server.ts')).logAcceptServer,
      'log append': async () => (await import('./log-append.ts')).logAppend,
      ...of('proof', {
        'log archive': async () => (await import('./log-archive.ts')).logArchive,
      }),
    },
  },
  {
    name: 'audit',
    title: 'Proof',
    summary: 'Verify the log and its read model, and decide on findings',
    commands: {
      ...of('proof', {
        'audit verify': async () => (await import('./audit-verify.ts')).auditVerify,
        'audit check': async () => (await import('./audit-check.ts')).auditCheck,
        'audit archive': async () => (await import('./log-archive.ts')).auditArchive,
      }),
      replay: async () => (await import('./replay.ts')).replay,
      ...of('proof', {
        'audit rotate-key': async () => (await import('./keys-rotate.ts')).auditRotateKey,
        'audit accept': async () => (await import('./audit-decide.ts')).auditAccept,
        'audit reject': async () => (await import('./audit-decide.ts')).auditReject,
        'audit trust-log': async () => (await import('./audit-decide.ts')).auditTrustLog,
      }),
    },
  },
  {
    name: 'witness',
    title: 'Witness',
    summary: 'Sign the heads of other logs',
    commands: {
      ...of('proof', {
        witness: async () => (await import('./witness/serve.ts')).witness,
        'witness init': async () => (await import('./witness/keys.ts')).witnessInit,
        'witness keys': async () => (await import('./witness/keys.ts')).witnessKeys,
        'witness add': async () => (await import('./witness/logs.ts')).witnessAdd,
        'witness remove': async () => (await import('./witness/logs.ts')).witnessRemove,
        'witness logs': async () => (await import('./witness/logs.ts')).witnessLogs,
      }),
    },
  },
  {
    name: 'projection',
    title: 'Read model',
    summary: 'Rebuild the read model, and release parked items',
    commands: {
      'projection status': async () => (await import('./projection.ts')).projectionStatus,
      'projection rebuild': async () => (await import('./projection-rebuild.ts')).projectionRebuild,
      'projection rollback': async () => (await import('./projection-rebuild.ts')).projectionRollback,
      'projection parked': async () => (await import('./projection-parked.ts')).projectionParked,
      'projection retry': async () => (await import('./projection-parked.ts')).projectionRetry,
      'projection release': async () => (await import('./projection-parked.ts')).projectionRelease,
    },
  },
  {
    name: 'process-manager',
    title: 'Reactions, timers and schedules',
    summary: 'Retry parked reactions; list timers, schedules, retention and holds',
    commands: {
      'process-manager parked': async () => (await import('./process-manager.ts')).processManagerParked,
      'process-manager retry': async () => (await import('./process-manager.ts')).processManagerRetry,
      'process-manager skip': async () => (await import('./process-manager.ts')).processManagerSkip,
      timers: async () => (await import('./process-manager.ts')).timers,
      schedules: async () => (await import('./schedules.ts')).schedules,
      'schedules run': async () => (await import('./schedules.ts')).schedulesRun,
      'retention plan': async () => (await import('./retention.ts')).retentionPlan,
      holds: async () => (await import('./holds.ts')).holds,
    },
  },
  {
    name: 'users',
    title: 'Users',
    summary: 'Look at users, invite them, and deactivate accounts',
    commands: {
      'users show': async () => (await import('./users/users.ts')).usersShow,
      ...of('accounts', {
        'users invite': async () => (await import('./users/users.ts')).usersInvite,
      }),
      'users role': async () => (await import('./users/users.ts')).usersRole,
      ...of('accounts', {
        'users sessions': async () => (await import('./users/users.ts')).usersSessions,
        'users deactivate': async () => (await import('./users/deactivate.ts')).usersDeactivate,
        'users reactivate': async () => (await import('./users/users.ts')).usersReactivate,
      }),
    },
  },
  {
    name: 'account',
    title: 'Accounts, at the machine',
    summary: 'Help users who cannot sign in, without a running installation',
    commands: {
      ...of('accounts', {
        invite: async () => (await import('./accounts.ts')).invite,
        'password-link': async () => (await import('./accounts.ts')).passwordLink,
        'account reset-second-factor': async () => (await import('./accounts.ts')).accountResetSecondFactor,
        'account remove-passkeys': async () => (await import('./accounts.ts')).accountRemovePasskeys,
        'account unlink': async () => (await import('./accounts.ts')).accountUnlink,
      }),
    },
  },
  {
    name: 'client',
    title: 'Clients and keys',
    summary: 'Register applications, grant scopes, and rotate secrets and keys',
    commands: {
      ...of('accounts', {
        'client create': async () => (await import('./client-create.ts')).clientCreate,
        'client block': async () => (await import('./client-commands.ts')).clientBlock,
        'client list': async () => (await import('./client-commands.ts')).clientList,
        'client show': async () => (await import('./client-commands.ts')).clientShow,
        'client grant-scopes': async () => (await import('./client-commands.ts')).clientGrantScopes,
        'client rotate-secret': async () => (await import('./client-commands.ts')).clientRotateSecret,
        'client delete': async () => (await import('./client-commands.ts')).clientDelete,
      }),
      'keys rotate': async () => (await import('./keys-rotate.ts')).keysRotate,
    },
  },
  {
    name: 'erasure',
    title: 'Personal data',
    summary: 'Export the data of a person, and check and repeat erasures',
    commands: {
      'people export': async () => (await import('./people-export.ts')).peopleExport,
      'erasure list': async () => (await import('./erasure.ts')).erasureList,
      'erasure report': async () => (await import('./erasure.ts')).erasureReport,
      'erasure apply': async () => (await import('./erasure.ts')).erasureApply,
      'erasure lost-keys': async () => (await import('./erasure-lost-keys.ts')).erasureLostKeys,
    },
  },
  {
    name: 'domain',
    title: 'Domain',
    summary: 'Describe the domain, and compare it with its recorded contract',
    commands: {
      'domain describe': async () => (await import('./domain/describe.ts')).domainDescribe,
      'domain nginx': async () => (await import('./domain/nginx.ts')).domainNginx,
      'domain check': async () => (await import('./domain/check.ts')).domainCheck,
      'domain record': async () => (await import('./domain/record.ts')).domainRecord,
      'domain rename': async () => (await import('./domain/rename.ts')).domainRename,
    },
  },
  {
    name: 'graphql',
    title: 'GraphQL',
    summary: 'Print the schema, and manage trusted documents',
    commands: {
      ...of('graphql', {
        'graphql schema': async () => (await import('./graphql.ts')).graphqlSchema,
        'documents load': async () => (await import('./graphql.ts')).documentsLoad,
        'documents list': async () => (await import('./graphql.ts')).documentsList,
        'documents remove': async () => (await import('./graphql.ts')).documentsRemove,
      }),
    },
  },
];

export const GROUPS: readonly Group[] = DECLARED.map(({ commands, ...group }) => ({
  ...group,
  commands: new Map(
    Object.entries(commands).map(([name, given]) => [
      name,
      typeof given === 'function' ? { part: undefined, load: given } : given,
    ]),
  ),
}));

/** The groups of an installation, without the commands of absent parts. */
export const groupsOf = (domain: Domain): readonly Group[] =>
  GROUPS.map(({ commands, ...group }) => ({
    ...group,
    commands: new Map([...commands].filter(([, { part }]) => part === undefined || serves(domain, part))),
  })).filter(({ commands }) => commands.size > 0);

/** The commands of a group, in the words of a domain. */
export const loadGroup = (group: Group, domain: Domain): Promise<readonly Command[]> =>
  Promise.all([...group.commands.values()].map(async ({ load }) => inWords(await load(), domain)));

/** All commands of an installation. */
const loadAll = async (domain: Domain): Promise<readonly Command[]> =>
  (await Promise.all(groupsOf(domain).map((group) => loadGroup(group, domain)))).flat();

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
