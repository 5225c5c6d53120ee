import { Router } from 'express';
import type { OwnRoutes } from '#process/own-routes.ts';

/** Routes beside those of Annals: how many tickets each customer has, for agents. */
export const routes: OwnRoutes = ({ callerOf, query, refusal }) =>
  Router().get('/ticket-counts', async (request, response) => {
    const caller = callerOf(request);
    if (caller === undefined) throw refusal('unauthenticated');
    if (caller.role !== 'agent' || !caller.scopes.has('read:tickets')) throw refusal('forbidden');
    const rows = await query(
      `select requester_id as "requesterId", count(*)::integer as tickets
       from read_model.tickets where status = $1 group by requester_id order by requester_id`,
      [request.query.status ?? 'open'],
    );
    response.json(rows);
  });
