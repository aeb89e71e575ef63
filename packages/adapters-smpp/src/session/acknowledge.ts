import { COMMAND_STATUS } from '../pdu/index.ts'
import type { AnswerDelivered } from './session.ts'

/**
 * Answers what came once `store` has resolved (P-7). If it rejects, or has not resolved after so many seconds, the carrier is asked to offer it again;
 * what is stored later after all is known then. Resolves to whether it was acknowledged; never rejects.
 */
export async function acknowledge(
  answers: readonly AnswerDelivered[],
  store: () => Promise<unknown> | undefined,
  secondsMax: number,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), secondsMax * 1000)))
  // The handler has logged why it failed.
  const stored = Promise.resolve(store()).then(
    () => true,
    () => false,
  )
  const isStored = await Promise.race([stored, late])
  clearTimeout(timer)
  for (const answer of answers) answer(isStored ? COMMAND_STATUS.ESME_ROK : COMMAND_STATUS.ESME_RX_T_APPN)
  return isStored
}
