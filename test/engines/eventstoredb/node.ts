import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Metadata, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { Engine } from './engine.ts';
import { noLeaderInfo, notLeader, notNow, type Refusal } from './refusals.ts';

/**
 * States of a node as its gossip names them. In those between leader and follower it answers reads and
 * refuses appends.
 */
const STATES = {
  leader: gossip.MemberInfo.VNodeState.LEADER,
  follower: gossip.MemberInfo.VNodeState.FOLLOWER,
  unknown: gossip.MemberInfo.VNodeState.UNKNOWN,
  'discover-leader': gossip.MemberInfo.VNodeState.DISCOVERLEADER,
  'pre-replica': gossip.MemberInfo.VNodeState.PREREPLICA,
};

export type NodeState = keyof typeof STATES;

/** A node as the others of its cluster know it. */
export type Member = { readonly port: number; readonly state: NodeState; readonly isAlive: boolean };

export type Node = {
  state: NodeState;
  /** Clients reach it, and the other nodes do not. */
  isIsolated: boolean;
  members(): readonly Member[];
};

const leaderOf = (node: Node): Member | undefined =>
  node.members().find(({ state, isAlive }) => state === 'leader' && isAlive);

/** A node that does not lead passes appends on to the leader, or refuses them without one. */
export const takesAppends = ({ node }: Engine): boolean =>
  (node.state === 'leader' && !node.isIsolated) ||
  (node.state === 'follower' && leaderOf(node) !== undefined);

/** The refusal of another node to requests that require the leader. */
export const refusalByOthers = ({ node }: Engine, metadata: Metadata): Refusal | undefined => {
  if (node.state === 'leader' || metadata.get('requires-leader')[0] !== 'true') return undefined;
  if (node.state !== 'follower') return notNow('Server Is Not Ready');
  const leader = leaderOf(node);
  return leader ? notLeader(leader) : noLeaderInfo();
};

export const refuseOthers = (engine: Engine, metadata: Metadata): void => {
  const refusal = refusalByOthers(engine, metadata);
  if (refusal) throw refusal;
};

/** A node knows at least itself. */
export const readGossip =
  (engine: Engine) =>
  (_call: ServerUnaryCall<Empty, ClusterInfo>, respond: sendUnaryData<ClusterInfo>): void =>
    engine.gate.pass(() =>
      respond(null, new gossip.ClusterInfo().setMembersList(engine.node.members().map(infoOf))),
    );

const infoOf = ({ port, state, isAlive }: Member) =>
  new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000000'))
    .setState(STATES[state])
    .setIsAlive(isAlive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));
