import { openFoundation } from '#shared/foundation.ts';
import { serveClients } from '#shared/http/serve-clients.ts';
import { type ProcessContext, run } from '#shared/run.ts';
import { startCommandService } from './command/service.ts';

/** All roles in one process, on the embedded database unless the settings name another. */
const start = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context);
  context.resources.use(await startCommandService({ ...foundation, log: context.log }));
  const { url } = await serveClients(context, foundation, { routes: [], links: [] });
  if (context.config.environment === 'development') process.stderr.write(banner(url));
};

const banner = (url: string): string => `
  Annals is at ${url}

  Try next:
    curl ${url}/                     what is there
    npm run annals -- help           the command line
    npm run annals -- log tail       the events so far

  Ctrl+C stops it; the data stays.

`;

await run(start);
