import { AdaptiveWindow, firstWindow, RequestWindow } from './adaptive-window.ts'

const settings = { window: 50, binds: 1, responseSeconds: 30 }

/**
 * Simulates a carrier that answers one request after another and is sent at most `share` of the window. Returns the
 * longest response time and the largest number of unanswered requests.
 */
function carry(requests: number, millisecondsEach: number, window = new AdaptiveWindow(settings), share = 1) {
  const sentAt: number[] = []
  const took: number[] = []
  let most = 0
  for (let now = 0; took.length < requests; now += millisecondsEach) {
    const sent = sentAt.shift()
    if (sent !== undefined) {
      took.push(now - sent)
      window.settled(now - sent, now, sentAt.length + 1)
    }
    while (sentAt.length < Math.max(1, Math.floor(window.limit() * share))) sentAt.push(now)
    most = Math.max(most, sentAt.length)
  }
  return { longest: Math.max(...took), most, limit: window.limit() }
}

test('a carrier that answers one a second never has more requests than it answers in half of the time limit', () => {
  const { longest, most } = carry(1000, 1000)
  expect(longest).toBeLessThan(15_000)
  expect(most).toBeLessThanOrEqual(15)
})

test('a carrier that answers five a second has ten requests', () => {
  expect(carry(300, 200).limit).toBe(10)
})

test('a carrier whose answers all take three seconds has the whole window, because nothing queues in it', () => {
  const window = new AdaptiveWindow(settings)
  for (let answers = 0; answers < 2000; answers++) window.settled(3000, answers * 60, 50)
  expect(window.limit()).toBe(50)
})

test('a carrier is slow for a minute after its window was cut', () => {
  const window = new AdaptiveWindow(settings)
  expect(window.isSlow(0)).toBe(false)
  window.settled(8000, 10_000, 10)
  expect([window.isSlow(69_000), window.isSlow(70_000)]).toEqual([true, false])
})

test('a quick carrier has the whole window soon', () => {
  expect(carry(100, 5).limit).toBe(50)
})

test('the window grows while three quarters of it are used, and not while a tenth is', () => {
  const small = { ...settings, binds: 5 }
  expect(carry(200, 5, new AdaptiveWindow(small), 0.75).limit).toBe(50)
  expect(carry(200, 5, new AdaptiveWindow(settings), 0.1).limit).toBe(10)
})

test('the window follows a carrier that becomes slow and quick again', () => {
  const window = new AdaptiveWindow(settings)
  carry(100, 5, window)
  expect(carry(200, 1000, window).limit).toBeLessThan(15)
  expect(carry(300, 5, window).limit).toBe(50)
})

test.each([
  [{}, 10],
  [{ window: 5 }, 5],
  [{ responseSeconds: 1 }, 2],
  [{ binds: 5 }, 2],
])('it begins small: %j', (more, first) => {
  expect(firstWindow({ ...settings, ...more })).toBe(first)
})

test('a window of requests counts the outstanding ones, adapts to answers, and ignores requests that were not sent', () => {
  const window = new RequestWindow({ window: 12, responseSeconds: 30 })
  const ends = Array.from({ length: 10 }, () => window.begin(0))
  expect([window.room(), window.inUse(), window.window()]).toEqual([0, 10, 10])
  ends.slice(0, 2).forEach((end) => end(5, 'unsent'))
  expect([window.room(), window.inUse(), window.window()]).toEqual([2, 8, 10])
  ends.forEach((end) => end(10, 'answered'))
  expect([window.room(), window.inUse(), window.window()]).toEqual([12, 0, 12])
  window.begin(0)(20_000, 'given-up')
  expect([window.window(), window.isSlow(20_001)]).toEqual([6, true])
})
