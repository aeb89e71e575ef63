import type { Ports } from '../ports.ts'
import { gatewayDay } from '../time/gateway-time.ts'
import type { Traffic } from './daily-sums.ts'

/** What went through today, by carrier, and the accounts with most of it. */
export const showTraffic =
  (ports: Pick<Ports, 'dailySums' | 'clock'>) =>
  async (accountsMax: number): Promise<Traffic> => {
    const today = gatewayDay(ports.clock.now())
    const [byCarrier, busiest] = await Promise.all([
      ports.dailySums.byCarrier(today),
      ports.dailySums.busiest(today, accountsMax),
    ])
    return { byCarrier, busiest }
  }
