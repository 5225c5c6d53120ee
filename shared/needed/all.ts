// Imported for its effect by what serves any domain with any parts: the command line, `describeDomain`, and tests.
// Each list must have the names and types of the one that it completes: the compiler refuses a missing module.
import * as confirm from '#kernel/assembly/agent-requests.ts';
import * as consequences from '#kernel/assembly/demand-reactions.ts';
import * as schedules from '#kernel/assembly/demand-schedules.ts';
import * as hold from '#kernel/assembly/holds.ts';
import * as retain from '#kernel/assembly/retention.ts';
import * as views from '#kernel/assembly/views.ts';
import '#shared/rest/describing.ts';
import { WORDS } from '#kernel/assembly/words.ts';
import { provideAll } from '#kernel/base/later.ts';
import * as aggregates from '#kernel/rest/aggregates.ts';
import * as viewOperations from '#kernel/rest/views.ts';
import * as webhookCommands from '#shared/commands/webhook.ts';
import * as viewTables from '#shared/read-model/view-tables.ts';
import * as accounts from '#shared/rest/of-accounts.ts';
import * as proof from '#shared/rest/of-proof.ts';
import * as webhooks from '#shared/rest/of-webhooks.ts';
import { NEEDED } from './load-needed.ts';

provideAll(WORDS, { confirm, consequences, hold, retain, schedules, views });
provideAll(NEEDED, { aggregates, accounts, webhooks, webhookCommands, proof, viewOperations, viewTables });
