// Imported for its effect by what serves any domain with any parts: the command line, `describeDomain`, and tests.
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
