import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  parse,
  printSchema,
} from 'graphql';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { makeFolder } from '#shared/folder.ts';
import type { AskService } from './ask-service.ts';
import type { Service } from './services.ts';

/** The schema of a service as SDL, by introspection. */
export const fetchSdl = async (ask: AskService, signal: AbortSignal): Promise<string> => {
  const { data, errors } = await ask({ document: INTROSPECTION, signal });
  if (errors || !data)
    throw new Error(`it refuses introspection: ${errors?.map(({ message }) => message).join('; ')}`);
  return printSchema(buildClientSchema(data as unknown as IntrospectionQuery));
};

const INTROSPECTION = parse(getIntrospectionQuery());

export const schemaOfSdl = (sdl: string): GraphQLSchema => buildSchema(sdl);

/** The last known schemas, for starts during which a service is down: the operator’s file, or our copy. */
export type KnownSchemas = {
  find(service: Service): Promise<string | undefined>;
  keep(service: Service, sdl: string): Promise<void>;
};

export const openKnownSchemas = (dataDir: string): KnownSchemas => {
  const fileOf = ({ name, schemaFile }: Service): string =>
    schemaFile ?? join(dataDir, 'composed', `${name}.graphql`);
  return {
    async find(service) {
      try {
        return await readFile(fileOf(service), 'utf8');
      } catch (error) {
        if (service.schemaFile === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT')
          return undefined;
        throw new StartRefused(
          `GRAPHQL_COMPOSE: the types of the service ${service.name} cannot be read: ${(error as Error).message}.`,
          {
            cause: error,
          },
        );
      }
    },
    async keep(service, sdl) {
      if (service.schemaFile !== undefined) return;
      const file = fileOf(service);
      await makeFolder(dirname(file));
      // A temporary file and a rename, because several processes may share the folder.
      const temporary = `${file}.${process.pid}`;
      await writeFile(temporary, sdl);
      await rename(temporary, file);
    },
  };
};
