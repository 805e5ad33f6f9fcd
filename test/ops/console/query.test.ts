import { describe, expect, test } from 'vitest'
import { numberOf, oneOf, readQuery, shortText } from '../../../src/ops/console/query.ts'

const fields = { state: oneOf(['open', 'all']), after: numberOf, owner: shortText }
const read = (query: string) => readQuery(new URLSearchParams(query), fields)

test('a query is read by its fields, and what a form leaves empty is not there', () => {
  expect(read('state=all&after=12&owner=shop')).toEqual({ state: 'all', after: 12n, owner: 'shop' })
  expect(read('state=&after=&owner=+')).toEqual({})
})

describe('is refused in one line', () => {
  test.each([
    ['state=some', 'state does not know "some"; use open, all'],
    ['after=one', 'after is "one"; it must be a number'],
    ['after=0', 'after is "0"; it must be a number'],
    ['after=-1', 'after is "-1"; it must be a number'],
    [`after=${'9'.repeat(19)}`, 'it must be a number'],
    ['owner=a%0Ab', 'owner must be a text of at most 200 signs in one line'],
    [`owner=${'x'.repeat(201)}`, 'owner must be a text of at most 200 signs in one line'],
    ['stat=open', 'there is no filter "stat"; use state, after, owner'],
    ['state=open&state=all', 'state is given more than once'],
    ['__proto__=x', 'there is no filter "__proto__"; use state, after, owner'],
    ['constructor=x', 'there is no filter "constructor"; use state, after, owner'],
    [`state=${'%0A'.repeat(9)}x`, 'state does not know'],
  ])('%s', (query, line) => {
    const refusal = () => read(query)
    expect(refusal).toThrow(expect.objectContaining({ code: 'request_refused' }))
    expect(refusal).toThrow(expect.objectContaining({ details: expect.objectContaining({ status: 400 }) }))
    let said = ''
    try {
      refusal()
    } catch (error) {
      said = (error as { details: { problem: string } }).details.problem
    }
    expect(said).toContain(line)
    expect(said).not.toContain('\n')
  })
})
