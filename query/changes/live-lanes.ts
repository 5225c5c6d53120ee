import type { Lane } from './lane.ts';
import type { Heard } from './ring.ts';
import type { Topic } from './topics.ts';

/** The lanes that have caught up, one of each cohort, by what they want to hear of. */
export type LiveLanes = {
  /** The live lane of the cohort from now on: the one given, or one that is there already. */
  enter(lane: Lane): Lane;
  leave(lane: Lane): void;
  about(heard: Heard): Iterable<Lane>;
  all(): Iterable<Lane>;
};

export const createLiveLanes = (): LiveLanes => {
  const lanes = new Map<string, Lane>();
  const index = new Map<Topic, Set<Lane>>();
  return {
    enter(lane) {
      const known = lanes.get(lane.cohort.key);
      if (known !== undefined) return known;
      lane.isLive = true;
      lanes.set(lane.cohort.key, lane);
      for (const topic of lane.cohort.topics) {
        const others = index.get(topic);
        if (others === undefined) index.set(topic, new Set([lane]));
        else others.add(lane);
      }
      return lane;
    },
    leave(lane) {
      lane.isLive = false;
      lane.queue = [];
      lanes.delete(lane.cohort.key);
      for (const topic of lane.cohort.topics) {
        const others = index.get(topic);
        others?.delete(lane);
        if (others?.size === 0) index.delete(topic);
      }
    },
    // A lane may be found by several topics of one change.
    about: ({ topics }) => new Set(topics.flatMap((topic) => [...(index.get(topic) ?? [])])),
    all: () => lanes.values(),
  };
};
