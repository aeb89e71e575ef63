import { watchAnswers } from '../../../packages/server/testing/watch-answers.ts'
import { endpoints } from '../src/routes.ts'
import { isDescribed } from './is-described.ts'

const others: string[] = []

// Fails the test file if an answer is not described on the page of the interface.
afterAll(
  watchAnswers(({ method, url = '' }, { statusCode }, body) => {
    const path =
      url
        .split('?')[0]
        ?.toLowerCase()
        .replace(/^\/api/, '') ?? ''
    if (statusCode !== 200 || method === 'HEAD' || !endpoints.has(path)) return
    if (!isDescribed(path, body)) others.push(`${path}: ${body.slice(0, 300)}`)
  }),
)
afterEach(() => expect(others.splice(0)).toEqual([]))
