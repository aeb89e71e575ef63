/** Action to take after a period without a sign of life from the other side. */
export type LivenessStep = 'nothing' | 'enquire' | 'dead'

/**
 * Judges the other side by the time when bytes last arrived and the time when an enquire_link was last sent. After
 * `silence` milliseconds without a byte, an enquire_link must be sent. After as much time again without a byte, the
 * other side is dead. With the default of 15 s, a dead peer is found within 30 s and one tick.
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
