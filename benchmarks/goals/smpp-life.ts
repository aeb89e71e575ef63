import type { Benchmark } from '../benchmark.ts'
import { inRounds } from '../environment/rounds.ts'
import { startSmsc } from '../environment/smsc.ts'
import { costFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { perSecondOf } from './accepting.ts'
import { openSide } from './smpp-living.ts'

/** Maximum number of unacknowledged receipts. The simulated carrier offers up to 8000 at a time. */
const deliveryWindow = 1000

/** One SMPP bind compared with the simulated carrier: cost of SMPP from accepted to DELIVERED. */
export const smppLife: Benchmark = {
  name: 'smpp-life',
  title: 'REST sends of 1000, accepted to DELIVERED over one SMPP bind beside the simulated carrier',
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const { quick } = environment
    const smsc = await startSmsc(['receiptDelay=0'], ['--delivery-window', String(deliveryWindow)])
    const simulated = await openSide(environment, 'simulator:?delayMs=0')
    const smpp = await openSide(environment, `smpp://gateway:pa55w0rd@127.0.0.1:${smsc.port}`)
    const worker = environment.worker()
    const all = quick ? 50_000 : 200_000
    const many = (warmUp: boolean): number => (warmUp ? 20_000 : all)
    const smscCosts: number[] = []

    const rounds = await inRounds(quick ? 3 : 5, {
      simulated: (warmUp) => simulated.live(worker, many(warmUp), 1000),
      smpp: async (warmUp) => {
        const before = await smsc.cpu()
        const round = await smpp.live(worker, many(warmUp), 1000)
        if (!warmUp) smscCosts.push(((await smsc.cpu()) - before) / round.count)
        return round
      },
    })
    await smpp.dispatcher.stop()
    await smsc.stop()
    return {
      figures: [
        {
          name: 'messages over one SMPP bind beside the simulated carrier',
          unit: '',
          rounds: ratios(perSecondOf(rounds.smpp), perSecondOf(rounds.simulated)),
          better: 'more',
          goal: { row: 'scale', is: 'at least', value: 0.8 },
        },
        { name: `over one SMPP bind, ${all} a round`, unit: '/s', rounds: perSecondOf(rounds.smpp), better: 'more' },
        { name: 'through the simulated carrier', unit: '/s', rounds: perSecondOf(rounds.simulated) },
        { name: 'CPU of gateway-smsc a message', unit: 'µs', rounds: smscCosts },
        ...costFigures('message over SMPP', ['rest', 'dispatcher'], rounds.smpp),
        ...costFigures('message through the simulated carrier', ['rest', 'dispatcher'], rounds.simulated),
      ],
      notes: [
        `Window 50, receipts at once, up to ${deliveryWindow} of them unacknowledged. gateway-smsc is a process of its own on the same cores, without a journal.`,
      ],
    }
  },
}
