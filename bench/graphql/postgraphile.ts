import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { listen } from '../../edge/http/listen.ts';

// PostGraphile 5, which derives its schema from the tables; comments on them declare the relations.
const service = makePgService({
  connectionString: String(process.argv[2]),
  schemas: ['read_model'],
  poolConfig: { max: Number(process.argv[3] ?? 4) },
});
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // With it, PostGraphile does not order and filter by columns with partial indexes.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  pgServices: [service],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: { explain: false },
  schema: {
    defaultBehavior:
      '+list -connection +resource:list +manyRelation:resource:list +filterBy +orderBy -insert -update -delete',
  },
});
const server = createServer();
await instance.createServ(grafserv).addTo(server);
const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url: `${url}/graphql` });
