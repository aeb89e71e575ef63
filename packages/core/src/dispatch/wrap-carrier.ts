import type { Carrier } from './carrier.ts'

/** Returns a carrier that behaves as `inner`, except for these members. */
export const wrapCarrier = (inner: Carrier, members: Partial<Omit<Carrier, 'id' | 'window'>>): Carrier => ({
  id: inner.id,
  window: inner.window,
  listen: (handlers) => inner.listen(handlers),
  submit: (messages, answered) => inner.submit(messages, answered),
  room: () => inner.room(),
  handBack: () => inner.handBack(),
  availability: () => inner.availability(),
  onAvailability: (changed) => inner.onAvailability(changed),
  mode: () => inner.mode(),
  setMode: (mode) => inner.setMode(mode),
  observe: (observers) => inner.observe(observers),
  status: () => inner.status(),
  responseTime: () => inner.responseTime(),
  close: (deadline) => inner.close(deadline),
  ...members,
})
