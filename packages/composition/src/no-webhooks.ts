import type { Ports } from '@gateway/core'

const missing = (): never => {
  throw new Error('this process cannot push events')
}

/** Stands in for what signs and pushes events until a process has both. */
export const noWebhooks: Pick<Ports, 'secretBox' | 'webhookClient'> = {
  secretBox: { newSigningSecret: missing, seal: missing, open: missing, isOld: missing },
  webhookClient: { refusalOf: missing, push: missing, close: () => Promise.resolve() },
}
