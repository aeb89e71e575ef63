import { watchAnswers } from '../../../packages/server/testing/watch-answers.ts'
import { complaint } from './complaint.ts'

const broken: string[] = []

// Fails the test file if any response is not described by the OpenAPI document.
afterAll(
  watchAnswers(({ method = '', url = '' }, response, body) => {
    const isHead = method === 'HEAD'
    if (!body.startsWith('{"timeStamp"') && !(isHead && url.includes('/api/rest/v1/'))) return
    const [path = ''] = url.split('?')
    const [status, headers] = [response.statusCode, response.getHeaders()]
    const answered = { method, path: path.replace(/\/$/, ''), status, headers, body: isHead ? '' : body }
    const wrong = complaint(answered)
    if (wrong !== undefined) broken.push(`${method} ${url}, ${status}: ${wrong}: ${body.slice(0, 500)}`)
  }),
)
afterEach(() => expect(broken.splice(0)).toEqual([]))
