import type { Benchmark } from '../benchmark.ts'
import { inRounds } from '../environment/rounds.ts'
import { openSlowLink } from '../environment/slow-link.ts'
import { startSmsc } from '../environment/smsc.ts'
import { ratios } from '../figures/spread.ts'
import { perSecondOf } from './accepting.ts'
import { openSide } from './smpp-living.ts'

const delayMilliseconds = 20

/** Benefit of a window with a distant carrier. */
export const smppWindow: Benchmark = {
  name: 'smpp-window',
  title: `one SMPP bind with a window of 50 beside a window of 1, ${delayMilliseconds} ms away`,
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const { quick } = environment
    const smsc = await startSmsc(['receiptDelay=0'])
    const link = await openSlowLink(smsc.port, delayMilliseconds)
    const over = (name: string, window: number): string =>
      `${name}=smpp://${name}:pa55w0rd@127.0.0.1:${link.port}?window=${window}`
    const fifty = await openSide(environment, over('fifty', 50))
    const one = await openSide(environment, over('one', 1))
    const worker = environment.worker()
    const seconds = quick ? 3 : 8

    const rounds = await inRounds(quick ? 3 : 5, {
      fifty: (warmUp) => fifty.live(worker, warmUp ? 1000 : seconds * 1000, 1000),
      one: (warmUp) => one.live(worker, warmUp ? 20 : seconds * 20, 20),
    })
    await Promise.all([fifty.dispatcher.stop(), one.dispatcher.stop()])
    await link.close()
    await smsc.stop()
    return {
      figures: [
        {
          name: 'a window of 50 beside a window of 1',
          unit: '',
          rounds: ratios(perSecondOf(rounds.fifty), perSecondOf(rounds.one)),
          better: 'more',
        },
        { name: 'with a window of 50', unit: '/s', rounds: perSecondOf(rounds.fifty), better: 'more' },
        { name: 'with a window of 1', unit: '/s', rounds: perSecondOf(rounds.one) },
      ],
      notes: [
        `Each octet arrives ${delayMilliseconds} ms later, in both directions: a window of 1 allows 25 a second.`,
      ],
    }
  },
}
