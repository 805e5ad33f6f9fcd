/** Names of the parameters of lists, as public APIs have them, usual ones first. */

export const limitNames = [
  'limit',
  'page_size',
  'pageSize',
  'per_page',
  'perPage',
  'size',
  'count',
  'take',
  'first',
  'max',
  'rows',
  'max_results',
  'maxResults',
  'page[size]',
  'page[limit]',
]

export const pageNames = [
  'page',
  'pageNumber',
  'page_number',
  'pageNo',
  'page_no',
  'pageIndex',
  'page_index',
  'p',
  'page[number]',
]

export const offsetNames = ['offset', 'skip', 'start', 'startIndex', 'start_index', 'from', 'page[offset]']

export const cursorNames = [
  'cursor',
  'after',
  'page_token',
  'pageToken',
  'next',
  'next_cursor',
  'nextCursor',
  'continuation',
  'continuationToken',
  'token',
  'marker',
  'starting_after',
  'page[cursor]',
  'page[after]',
]

export const lastRecordNames = [
  'starting_after',
  'startingAfter',
  'after',
  'after_id',
  'afterId',
  'last_id',
  'lastId',
  'last',
  'cursor',
  'marker',
  'before',
  'max_id',
  'page[after]',
]
