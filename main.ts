import { type FirstMinute, writeFirstMinute } from '#shared/first-minute-file.ts';
import { openFoundation } from '#shared/foundation.ts';
import { serveClients } from '#shared/http/serve-clients.ts';
import { type ProcessContext, run } from '#shared/run.ts';
import { prepareFirstMinute } from './auth/first-minute.ts';
import { openAuth } from './auth/open-auth.ts';
import { startCommandService } from './command/service.ts';
import { startProjector } from './projector/service.ts';

/** All roles in one process, on the embedded database unless the settings name another. */
const start = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context);
  const gateway = context.resources.use(await startCommandService({ ...foundation, log: context.log }));
  context.resources.use(await startProjector({ ...foundation, log: context.log }));
  const { auth, authentication } = await openAuth(context, foundation, gateway);
  const isDevelopment = context.config.environment === 'development';
  const firstMinute = isDevelopment && (await prepareFirstMinute({ ...foundation, ...auth, gateway }, context.config.dataDir));
  const { url } = await serveClients(context, foundation, { routes: [auth.routes], links: [], authentication });
  if (!firstMinute) return;
  await writeFirstMinute(context.config.dataDir, { ...firstMinute, url });
  process.stderr.write(banner(url, firstMinute));
};

const banner = (url: string, { author }: FirstMinute): string => `
  Annals is at ${url}

  Try next:
    curl ${url}/                     what is there
    npm run -s token -- --scope 'read:articles write:articles'
                                                an access token, as an administrator
    npm run annals -- help           the command line
    npm run annals -- log tail       the events so far

  Sign in as ${author.email} with the password ${author.password}

  Ctrl+C stops it; the data stays.

`;

await run(start);
