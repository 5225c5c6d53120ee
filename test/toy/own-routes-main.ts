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
      .get('/strange/:count', async (request, response) => {
        const values = Array.from({ length: Number(request.params.count) }, () => 1);
        response.json(await tools.query('select $1::integer + $2::integer as sum', values));
      })
      .post('/session', async (_request, response) => {
        await tools.query(`set work_mem = '5MB'`);
        await tools.query(`select set_config('search_path', 'read_model', false)`);
        await tools.query('select pg_advisory_lock(4711)');
        response.json('set');
      })
      .get('/session', async (_request, response) => {
        const seen = `select current_setting('search_path') as "searchPath",
          current_setting('work_mem') as "workMemory",
          (select count(*)::integer from pg_locks where locktype = 'advisory' and objid = 4711) as locks`;
        response.json(await Promise.all(Array.from({ length: 20 }, () => tools.query(seen))));
      })
      .post('/escape', async (_request, response) => {
        await tools.query('commit; delete from read_model.tickets');
        response.json('written');
      }),
});
