/** Action that the silence of the other side calls for. */
export type LivenessStep = 'nothing' | 'enquire' | 'dead'

/**
 * Judges the other side by the times when bytes last arrived and when it was last sent an enquire_link. After `silence`
 * milliseconds without a byte it is sent an enquire_link; after as much time again without a byte it is dead. With the
 * default of 15 s a dead peer is found within 30 s and one tick.
 */
export function livenessStep(
  receivedAt: number,
  enquiredAt: number | undefined,
  silence: number,
  now: number,
): LivenessStep {
  if (now - receivedAt < silence) return 'nothing'
  if (enquiredAt === undefined || enquiredAt < receivedAt) return 'enquire'
  return now - enquiredAt >= silence ? 'dead' : 'nothing'
}
