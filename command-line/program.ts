// Over 200 lines, because it has the list of all commands, which takes a line for each import.

import { StartRefused } from '#kernel/base/start-refused.ts';
import { inWordsOf } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { VERSION_LINE } from '#process/start-arguments.ts';
import { setupFailure } from '#shared/database/failures.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { fileFailure } from '#shared/folder.ts';
import { accountRemovePasskeys, accountResetSecondFactor, invite, passwordLink } from './accounts.ts';
import { type Command, readArguments } from './arguments/command.ts';
import { nearest } from './arguments/nearest.ts';
import { UsageError } from './arguments/usage-error.ts';
import { auditVerify } from './audit-verify.ts';
import { bench } from './bench/bench.ts';
import {
  clientDelete,
  clientGrantScopes,
  clientList,
  clientRotateSecret,
  clientShow,
} from './client-commands.ts';
import { clientCreate } from './client-create.ts';
import { completion } from './completion.ts';
import { demo } from './demo/demo.ts';
import { doctor } from './doctor/doctor.ts';
import { domainCheck } from './domain/check.ts';
import { domainDescribe } from './domain/describe.ts';
import { domainNginx } from './domain/nginx.ts';
import { domainRecord } from './domain/record.ts';
import { domainRename } from './domain/rename.ts';
import { erasureApply, erasureList, erasureReport } from './erasure.ts';
import { erasureLostKeys } from './erasure-lost-keys.ts';
import { events } from './events/events.ts';
import { eventsShow } from './events/show.ts';
import { documentsList, documentsLoad, documentsRemove, graphqlSchema } from './graphql.ts';
import { type Group, helpOn, helpOnCommands } from './help.ts';
import { token } from './installation/token.ts';
import { auditRotateKey, keysRotate } from './keys-rotate.ts';
import { logAcceptServer } from './log-accept-server.ts';
import { logAppend } from './log-append.ts';
import { logCopy } from './log-copy.ts';
import { logRenew } from './log-renew.ts';
import { logShow, logTail } from './log-tail.ts';
import { logExport, logImport } from './log-transfer.ts';
import { newAggregate } from './new-aggregate.ts';
import { open } from './open.ts';
import { processManagerParked, processManagerRetry, processManagerSkip, timers } from './process-manager.ts';
import { projectionStatus } from './projection.ts';
import { projectionParked, projectionRelease, projectionRetry } from './projection-parked.ts';
import { projectionRebuild, projectionRollback } from './projection-rebuild.ts';
import { replay } from './replay.ts';
import { settings } from './settings.ts';
import { status } from './status.ts';
import type { Terminal } from './terminal.ts';
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

const GROUPS: readonly Group[] = [
  [
    'Begin',
    [
      demo,
      open,
      token,
      settings,
      newAggregate,
      completion((domain) => COMMANDS.map((command) => inWords(command, domain))),
    ],
  ],
  ['Installation', [status, doctor, bench]],
  ['Events', [events, eventsShow]],
  ['Webhooks', [webhooksList, webhooksShow, webhooksEnable, webhooksDisable, webhooksTest]],
  ['Deliveries', [deliveriesList, deliveriesShow, deliveriesResend, deliveriesResendFailed]],
  ['Event log', [logTail, logShow, logExport, logImport, logCopy, logRenew, logAcceptServer, logAppend]],
  ['Proof', [auditVerify, replay, auditRotateKey]],
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
  ['Reactions and timers', [processManagerParked, processManagerRetry, processManagerSkip, timers]],
  [
    'Users',
    [
      usersList,
      usersFind,
      usersShow,
      usersInvite,
      usersRole,
      usersSessions,
      usersDeactivate,
      usersReactivate,
    ],
  ],
  ['Accounts, at the machine', [invite, passwordLink, accountResetSecondFactor, accountRemovePasskeys]],
  [
    'Clients and keys',
    [clientCreate, clientList, clientShow, clientGrantScopes, clientRotateSecret, clientDelete, keysRotate],
  ],
  ['Erasure', [erasureList, erasureReport, erasureApply, erasureLostKeys]],
  ['Domain', [domainDescribe, domainNginx, domainCheck, domainRecord, domainRename]],
  ['GraphQL', [graphqlSchema, documentsLoad, documentsList, documentsRemove]],
];
export const COMMANDS: readonly Command[] = GROUPS.flatMap(([, commands]) => commands);

const FAILED = 1;
/** `EX_USAGE` of sysexits.h. */
const EX_USAGE = 64;
const WORDS_MAX = 2;
const HELP = new Set(['--help', '-h']);
const VERSION = new Set(['version', '--version', '-v']);
/** Words, and options, that are answered without a command. */
const WITHOUT_COMMAND = ['help', 'version'];

/** Runs the command of the arguments and returns the exit code. */
export const runCommandLine = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await dispatch(args, terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(`annals: ${error.message}${error.message.endsWith('?') ? '' : '.'}`);
      return EX_USAGE;
    }
    if (error instanceof StartRefused) {
      terminal.complain(error.message);
      return error.exitCode;
    }
    const failure =
      error instanceof StreamCut ? `${error.message}.` : (fileFailure(error) ?? setupFailure(error));
    if (failure !== undefined) {
      terminal.complain(failure);
      return FAILED;
    }
    throw error;
  }
};

const dispatch = async (args: readonly string[], terminal: Terminal): Promise<void> => {
  const [first] = args;
  if (first !== undefined && VERSION.has(first)) return terminal.write(VERSION_LINE);
  if (first === undefined || first === 'help' || args.some((argument) => HELP.has(argument))) {
    return terminal.write(
      helpAbout(
        args.filter((argument) => !HELP.has(argument)).slice(first === 'help' ? 1 : 0),
        terminal.domain,
      ),
    );
  }
  const found = find(args);
  if (found === undefined) throw unknown(args);
  const { command, rest } = found;
  try {
    await command.run(readArguments(inWords(command, terminal.domain), rest), terminal);
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} (more: npm run annals -- help ${command.name})`);
    throw error;
  }
};

const find = (args: readonly string[]): { command: Command; rest: readonly string[] } | undefined => {
  for (let words = WORDS_MAX; words > 0; words -= 1) {
    const name = args.slice(0, words).join(' ');
    const command = COMMANDS.find((each) => each.name === name);
    if (command !== undefined) return { command, rest: args.slice(words) };
  }
  return undefined;
};

const helpAbout = (words: readonly string[], domain: Domain): string => {
  const groups = GROUPS.map(
    ([title, commands]): Group => [title, commands.map((command) => inWords(command, domain))],
  );
  if (words.length === 0 || words[0] === 'help') return helpOnCommands(groups);
  const found = find(words);
  if (found !== undefined) return helpOn(inWords(found.command, domain));
  const some = groups.flatMap(([, commands]) =>
    commands.filter(({ name }) => name.startsWith(`${words[0]} `)),
  );
  if (some.length > 0 && words.length === 1) return helpOnCommands([['Commands', some]]);
  throw unknown(words);
};

/** Texts and option names refer to the aggregates of this domain. */
const inWords = ({ summary, options, examples, ...command }: Command, domain: Domain): Command => ({
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

const unknown = (args: readonly string[]): UsageError => {
  const words = args.filter((argument) => !argument.startsWith('-')).slice(0, WORDS_MAX);
  if (words.length === 0) {
    const [option = ''] = args;
    const meant = nearest(option.replace(/^-+/, ''), WITHOUT_COMMAND);
    return new UsageError(`there is no option ${option}; ${hint(meant && `--${meant}`)}`);
  }
  const typed = words.join(' ');
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${typed} `)).map(({ name }) => name);
  if (group.length > 0) return new UsageError(`“${typed}” needs one more word: ${group.join(', ')}`);
  const names = [...WITHOUT_COMMAND, ...COMMANDS.map(({ name }) => name)];
  const meant = nearest(typed, names) ?? nearest(words[0] ?? '', names);
  return new UsageError(`there is no command “${typed}”; ${hint(meant && `“${meant}”`)}`);
};

const hint = (meant: string | undefined): string =>
  meant === undefined ? 'npm run annals -- help lists the commands' : `did you mean ${meant}?`;
