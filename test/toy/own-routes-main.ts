import { Router } from 'express';
import { servedBy } from '../../served.ts';
import { start } from '../../start.ts';
import { routes } from './own-routes.ts';

/** The domain of DOMAIN_FILE with routes of its own, and with some that go wrong. */
await start({
  ...servedBy(process.env.DOMAIN_FILE ?? ''),
  parts: [],
  routes: (tools) =>
    Router()
      .use(routes(tools))
      .get('/who', (request, response) => {
        const { id, role, scopes } = tools.callerOf(request) ?? {};
        response.json({ id, role, scopes: [...(scopes ?? [])] });
      })
      .get('/tickets', (_request, response) => void response.json('replaced'))
      .get('/broken', () => {
        throw new RangeError('a secret');
      })
      .get('/missing', () => {
        throw tools.refusal('not_found', 'There is no such shelf.');
      })
      .get('/subjects/:id', async (request, response) => {
        const asked = [request.params.id];
        response.json(await tools.query('select subject from read_model.tickets where id = $1', asked));
      })
      .post('/write', async (_request, response) => {
        await tools.query('delete from read_model.tickets');
        response.json('written');
      })
      .post('/escape', async (_request, response) => {
        await tools.query('commit; delete from read_model.tickets');
        response.json('written');
      }),
});
