import { randomUUID } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { DemoCommand, DemoPerson, Stage } from '#kernel/demo/demo.ts';
import { newBlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { CONSOLE } from '../../auth/storage/client.ts';
import type { CommandSide } from '../installation/command-side.ts';

type Acting = { readonly id: UserId; readonly role: string };

/** The people of a demo by number, each with their current role. */
export type Cast = Map<number, Acting>;

export type DemoStage = Stage & {
  /** Registers a person: the system registers the first, who then registers the others. */
  register(place: number, person: DemoPerson): Promise<void>;
};

type Dependencies = Pick<CommandSide, 'domain' | 'gateway' | 'blobs'> & {
  readonly seed: number;
  readonly cast: Cast;
};

/** Sends the commands of people: decided like any other, with the rights of their sender. */
export const createStage = ({ domain, gateway, blobs, seed, cast }: Dependencies): DemoStage => {
  const policy = policyOf(domain);
  const actingAs = (place: number): Acting => {
    const person = cast.get(place);
    if (person === undefined) throw new Error(`no person of the demo has the index ${place} yet`);
    return person;
  };
  const callerOf = (place: number, client: string | undefined): Caller => {
    const { id: userId, role } = actingAs(place);
    const through = client === undefined ? CONSOLE : clientIdOf(seed, client);
    return { kind: 'user', policy, userId, role, scopes: new Set(policy.scopes), client: through };
  };
  const send = async (caller: Caller, command: DemoCommand) => {
    const result = await gateway.send(command, { caller, requestId: randomUUID() }).catch(refuse(command));
    if (command.type === 'UpdateUser' && typeof command.role === 'string')
      changeRole(cast, result.id as UserId, command.role);
    return result;
  };
  return {
    send: (by, command, { client } = {}) => send(callerOf(by, client), command),
    idOf: (place) => actingAs(place).id,
    async keep(id, picture) {
      const name = newBlobName(id, 'image/png');
      await blobs.put(name, piecesOf(picture), { bytes: picture.length });
      return pathOfBlob(name);
    },
    async register(place, { name, email, role }) {
      const caller: Caller = cast.size === 0 ? { kind: 'system', name: 'demo' } : callerOf(0, undefined);
      const { id } = await send(caller, { type: 'RegisterUser', name, email, role });
      cast.set(place, { id: id as UserId, role });
    },
  };
};

export const clientIdOf = (seed: number, clientId: string): string => `demo-${seed}-${clientId}`;

const changeRole = (cast: Cast, id: UserId, role: string): void => {
  for (const [place, person] of cast) if (person.id === id) cast.set(place, { ...person, role });
};

async function* piecesOf(picture: Buffer): AsyncGenerator<Uint8Array> {
  yield picture;
}

const refuse =
  ({ type }: DemoCommand) =>
  (error: unknown): never => {
    if (error instanceof Rejection)
      throw new StartRefused(`${type} was refused: ${error.code}. ${error.message}`, { cause: error });
    throw error;
  };
