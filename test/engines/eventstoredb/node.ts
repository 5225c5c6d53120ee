import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { Engine } from './engine.ts';

/** States of a node as its gossip names them. In those between leader and follower it answers reads and refuses appends. */
const STATES = {
  leader: gossip.MemberInfo.VNodeState.LEADER,
  follower: gossip.MemberInfo.VNodeState.FOLLOWER,
  unknown: gossip.MemberInfo.VNodeState.UNKNOWN,
  'discover-leader': gossip.MemberInfo.VNodeState.DISCOVERLEADER,
  'pre-replica': gossip.MemberInfo.VNodeState.PREREPLICA,
};

export type NodeState = keyof typeof STATES;

/** What the node does not do for itself, it passes on, or has nobody to pass it on to. */
export const takesAppends = (state: NodeState): boolean => state === 'leader' || state === 'follower';

/** A node knows at least itself. */
export const readGossip =
  (engine: Engine, port: () => number) =>
  (_call: ServerUnaryCall<Empty, ClusterInfo>, respond: sendUnaryData<ClusterInfo>): void =>
    engine.gate.pass(() => {
      const place = new gossip.EndPoint().setAddress('127.0.0.1').setPort(port());
      const id = new shared.UUID().setString('00000000-0000-4000-8000-000000000000');
      const self = new gossip.MemberInfo().setInstanceId(id).setState(STATES[engine.node.state]).setIsAlive(true).setHttpEndPoint(place);
      respond(null, new gossip.ClusterInfo().setMembersList([self]));
    });
