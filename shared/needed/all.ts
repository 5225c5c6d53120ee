// Imported for its effect by what serves any domain with any parts: the command line, `describeDomain`, and tests.
import * as confirm from '#kernel/assembly/agent-requests.ts';
import * as consequences from '#kernel/assembly/demand-reactions.ts';
import * as schedules from '#kernel/assembly/demand-schedules.ts';
import * as views from '#kernel/assembly/demand-views.ts';
import * as hold from '#kernel/assembly/holds.ts';
import * as retain from '#kernel/assembly/retention.ts';
import { WORDS } from '#kernel/assembly/words.ts';
import { WEBHOOK_COMMANDS } from '#shared/commands/command.ts';
import * as webhookCommands from '#shared/commands/webhook.ts';
import * as ofAccounts from '#shared/rest/of-accounts.ts';
import * as ofProof from '#shared/rest/of-proof.ts';
import * as ofWebhooks from '#shared/rest/of-webhooks.ts';
import { OPERATIONS_OF_PARTS } from '#shared/rest/operations.ts';

OPERATIONS_OF_PARTS.accounts.provide(ofAccounts);
OPERATIONS_OF_PARTS.webhooks.provide(ofWebhooks);
OPERATIONS_OF_PARTS.proof.provide(ofProof);
WEBHOOK_COMMANDS.provide(webhookCommands);
WORDS.confirm.provide(confirm);
WORDS.consequences.provide(consequences);
WORDS.hold.provide(hold);
WORDS.retain.provide(retain);
WORDS.schedules.provide(schedules);
WORDS.views.provide(views);
