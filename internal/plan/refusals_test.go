package plan

// refusals are files that Parse must refuse, with exactly these errors. The
// schema must refuse them too, unless blind says that no schema could tell.
var refusals = []struct {
	name  string
	text  string
	want  []string
	blind bool
}{
	{
		name: "unknown fields, all at once",
		text: `
plan: {}
plans:
  pro:
    limit: []
    limits:
      - name: api
        rte: 100/s
        Burst: 5
        rate: 1/s
        match: { methd: GET }
        colour: red
tenants:
  - { id: acme, plan: pro, key: [k] }
badCredentials: { rat: 1/s }
`,
		want: []string{
			`2:1: unknown field "plan" in the file; did you mean plans?`,
			`5:5: limit is not supported by this version; remove it`,
			`8:9: unknown field "rte" in a limit; did you mean rate?`,
			`9:9: unknown field "Burst" in a limit; did you mean burst?`,
			`11:18: unknown field "methd" in match of limit "api"; did you mean method?`,
			`12:9: unknown field "colour" in a limit: want one of name, description, match, key, rate, burst, cost, consistency, onPartition, hold, mode, onError, initial`,
			`14:28: unknown field "key" in a tenant; did you mean keys?`,
			`15:17: badCredentials has no rate: want one such as 100/s, or unlimited`,
			`15:19: unknown field "rat" in badCredentials; did you mean rate?`,
		},
	},
	{
		name: "fields of later versions",
		text: `
plans:
  pro:
    limits:
      - name: api
        rate: 100/s
        kind: quota
        priority: critical
        soft: true
`,
		want: []string{
			`7:9: kind is not supported by this version; remove it`,
			`8:9: priority is not supported by this version; remove it`,
			`9:9: soft is not supported by this version; remove it`,
		},
	},
	{
		name: "bad rates",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 100 }
      - { name: b, rate: 100/sec }
      - { name: c, rate: 1.5/s }
      - { name: d, rate: -1/s }
      - { name: e, rate: 10 / m }
      - { name: f, rate: 5/month }
      - { name: g, rate: 010/s }
      - { name: h, rate: [1] }
      - { name: i, rate: }
      - { name: j, rate: "" }
      - { name: k, rate: 99999999999999999999/s }
      - { name: l, rate: 5k/Hour }
`,
		want: []string{
			`5:26: rate of limit "a" is a bare number: say per what, such as 100/s`,
			`6:26: limit "b": rate "100/sec": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited; did you mean 100/s?`,
			`7:26: limit "c": rate "1.5/s": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`8:26: limit "d": rate "-1/s": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`9:26: limit "e": rate "10 / m": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`10:26: limit "f": rate "5/month": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`11:26: limit "g": rate "010/s": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`12:26: rate of limit "h" is a list: want text`,
			`13:26: rate of limit "i" is empty: want text`,
			`14:26: limit "j": rate "": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`15:26: limit "k": rate "99999999999999999999/s": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited`,
			`16:26: limit "l": rate "5k/Hour": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited; did you mean 5k/h?`,
		},
	},
	{
		name: "impossible rates",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 2M/s }
      - { name: b, burst: 5, rate: 2M/s }
`,
		want: []string{
			`5:26: limit "a": bucket: impossible rate: 2000000 per 1s: at most 1000000/s`,
			`6:36: limit "b": bucket: impossible rate: 2000000 per 1s: at most 1000000/s`,
		},
		blind: true,
	},
	{
		name: "impossible bursts",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, burst: 0 }
      - { name: b, rate: 5/s, burst: 10% }
      - { name: c, rate: 50M/d }
      - { name: d, rate: 1/d, burst: 1M }
`,
		want: []string{
			`5:38: limit "a": bucket: impossible burst: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more`,
			`6:38: limit "b": bucket: impossible burst: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more`,
			`7:26: limit "c": bucket: impossible burst: 50000000 tokens: want 1 to 10000000; the burst is 100% of the rate's number unless you write one`,
			`8:38: limit "d": bucket: impossible burst: 1000000 tokens at 1 per 24h0m0s refill in over 100 years: at most 36500`,
		},
		blind: true,
	},
	{
		name: "bad bursts and costs",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, burst: -1 }
      - { name: b, rate: 5/s, burst: 1.5k }
      - { name: c, rate: 5/s, burst: 50 % }
      - { name: d, rate: 5/s, burst: lots }
      - { name: e, rate: 5/s, burst: true }
      - { name: f, rate: 5/s, cost: -1 }
      - { name: g, rate: 5/s, cost: 2k }
      - { name: h, rate: 5/s, cost: 1.5 }
      - { name: i, rate: 5/s, cost: 99999999 }
      - { name: j, rate: 5/s, cost: "1" }
`,
		want: []string{
			`5:38: limit "a": burst "-1": want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%`,
			`6:38: limit "b": burst "1.5k": want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%`,
			`7:38: limit "c": burst "50 %": want a whole percentage of the rate's number, up to 1000000%`,
			`8:38: limit "d": burst "lots": want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%`,
			`9:38: burst of limit "e" is true or false: want a number of tokens, or a percentage such as 100%`,
			`10:37: cost of limit "f": want a whole number from 0 to 10000000`,
			`11:37: cost of limit "g": want a whole number from 0 to 10000000`,
			`12:37: cost of limit "h": want a whole number from 0 to 10000000`,
			`13:37: cost of limit "i": want a whole number from 0 to 10000000`,
			`14:37: cost of limit "j": want a whole number from 0 to 10000000`,
		},
	},
	{
		name:  "cost above the burst",
		text:  `plans: { p: { limits: [{ name: a, rate: 5/s, cost: 6 }] } }`,
		want:  []string{`1:52: limit "a" costs 6 tokens, but its bucket holds 5: no request would ever pass; raise the burst, or write rate: 0/s to refuse all`},
		blind: true,
	},
	{
		name: "duplicates",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, rate: 6/s }
      - { name: a, rate: 5/s }
  p: { limits: [{ name: a, rate: 5/s }] }
tenants:
  - { id: acme, plan: p, keys: [k1, k1] }
  - { id: acme, plan: p }
  - { id: hooli, plan: p, keys: [k2, k1] }
tenants: []
`,
		want: []string{
			`5:31: "rate" appears twice in a limit; first on line 5`,
			`6:17: limit "a" appears twice in the plan; first on line 5`,
			`7:3: "p" appears twice in plans; first on line 3`,
			`9:37: tenant "acme" has this key twice`,
			`10:11: tenant "acme" appears twice; first on line 9`,
			`11:38: tenant "hooli" has a key that tenant "acme" has too: a key identifies one tenant`,
			`12:1: "tenants" appears twice in the file; first on line 8`,
		},
		blind: true,
	},
	{
		name: "bad names",
		text: `
plans:
  "": { limits: [{ name: a, rate: 5/s }] }
  _p: { limits: [{ name: "", rate: 5/s }] }
  p:
    limits:
      - { name: a|b, rate: 5/s }
      - { name: _a, rate: 5/s }
      - { name: 7, rate: 5/s }
      - { rate: 5/s }
tenants:
  - { id: acme inc, plan: p }
  - { id: "", plan: p }
  - { plan: p }
  - { id: 12, plan: p }
  - { id: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, plan: p }
`,
		want: []string{
			`3:3: plan name "": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`,
			`4:3: plan name "_p": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`,
			`7:17: limit name "a|b": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`,
			`8:17: limit name "_a": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`,
			`9:17: limit name is a number: want text; put it in quotes`,
			`10:9: a limit has no name`,
			`12:11: tenant id "acme inc": want 1 to 64 letters, digits, '.', '_' and '-'`,
			`13:11: tenant id "": want 1 to 64 letters, digits, '.', '_' and '-'`,
			`14:5: a tenant has no id`,
			`15:11: tenant id is a number: want text; put it in quotes`,
			`16:11: tenant id "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"...: want 1 to 64 letters, digits, '.', '_' and '-'`,
		},
	},
	{
		name: "names of nothing",
		text: `
plans:
  pro: { limits: [{ name: a, rate: 5/s }] }
tenants:
  - { id: acme, plan: pto }
  - { id: hooli, plan: enterprise }
  - { id: initech }
anonymous: anon
`,
		want: []string{
			`5:23: tenant "acme" names plan "pto", which the file does not have; did you mean pro?`,
			`6:24: tenant "hooli" names plan "enterprise", which the file does not have: want one of pro`,
			`7:5: tenant "initech" has no plan: want the name of one`,
			`8:12: anonymous names plan "anon", which the file does not have: want one of pro`,
		},
	},
	{
		name: "anonymous plan keyed by tenant",
		text: `
plans: { free: { limits: [{ name: a, rate: 5/s }] } }
anonymous: free
`,
		want: []string{
			`3:12: plan "free" is for requests without a credential, but its limit "a" is keyed by {tenant}: all of them would share one bucket; write key: "{ip}", or a plan of its own`,
		},
		blind: true,
	},
	{
		name: "bad consistencies",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, consistency: Strict }
      - { name: b, rate: 5/s, consistency: eventual }
      - { name: c, rate: 5/s, consistency: true }
      - { name: d, rate: 5/s, onPartition: deny }
      - { name: e, rate: 5/s, onPartition: }
      - { name: f, rate: 5/s, consistency: strict, onPartition: share }
      - { name: g, rate: 5/s, onPartition: serve, consistency: regional }
`,
		want: []string{
			`5:44: consistency of limit "a" is "Strict"; did you mean strict?`,
			`6:44: consistency of limit "b" is "eventual": want one of global, regional, strict`,
			`7:44: consistency of limit "c" is true or false: want text; put it in quotes`,
			`8:44: onPartition of limit "d" is "deny": want one of serve, share`,
			`9:44: onPartition of limit "e" is empty: want text`,
			`10:65: onPartition of limit "f": a strict limit has nothing to share; remove it, or write consistency: global`,
			`11:44: onPartition of limit "g": a regional limit has nothing to share; remove it, or write consistency: global`,
		},
	},
	{
		name: "bad modes",
		text: `
plans:
  p:
    mode: Shadow
    limits:
      - { name: a, rate: 5/s, mode: dry-run }
      - { name: b, rate: 5/s, mode: false }
      - { name: c, rate: 5/s, mode: }
      - { name: d, rate: 5/s, onError: refuse }
      - { name: e, rate: 5/s, onError: Deny }
      - { name: f, rate: 5/s, onError: [deny] }
tenants:
  - { id: a, plan: p, mode: none }
  - { id: b, plan: p, onError: deny }
`,
		want: []string{
			`4:11: mode of plan "p" is "Shadow"; did you mean shadow?`,
			`6:37: mode of limit "a" is "dry-run": want one of enforce, shadow, off`,
			`7:37: mode of limit "b" is true or false: want text; put it in quotes`,
			`8:37: mode of limit "c" is empty: want text`,
			`9:40: onError of limit "d" is "refuse": want one of allow, local, deny`,
			`10:40: onError of limit "e" is "Deny"; did you mean deny?`,
			`11:40: onError of limit "f" is a list: want text`,
			`13:29: mode of tenant "a" is "none": want one of enforce, shadow, off`,
			`14:23: unknown field "onError" in a tenant: want one of id, plan, suspended, keys, mode, hold, limits`,
		},
	},
	{
		name: "bad holds",
		text: `
plans:
  p:
    hold: 1m
    limits:
      - { name: a, rate: 5/s, hold: 250 }
      - { name: b, rate: 5/s, hold: 0 }
      - { name: c, rate: 5/s, hold: 5001ms }
      - { name: d, rate: 5/s, hold: 6s }
      - { name: e, rate: 5/s, hold: 1.5s }
      - { name: f, rate: 5/s, hold: -1s }
      - { name: g, rate: 5/s, hold: 010ms }
      - { name: h, rate: 5/s, hold: 100us }
      - { name: i, rate: 5/s, hold: "" }
      - { name: j, rate: 5/s, hold: ms }
      - { name: k, rate: 5/s, hold: { max: 1s } }
      - { name: l, rate: 5/s, hold: 999999999999s }
tenants:
  - { id: a, plan: p, hold: 1h }
`,
		want: []string{
			`4:11: hold of plan "p" is "1m": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`6:37: hold of limit "a" is a bare number: say of what, such as 250ms or 0s`,
			`7:37: hold of limit "b" is a bare number: say of what, such as 250ms or 0s`,
			`8:37: hold of limit "c" is "5001ms": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`9:37: hold of limit "d" is "6s": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`10:37: hold of limit "e" is "1.5s": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`11:37: hold of limit "f" is "-1s": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`12:37: hold of limit "g" is "010ms": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`13:37: hold of limit "h" is "100us": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`14:37: hold of limit "i" is "": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`15:37: hold of limit "j" is "ms": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`16:37: hold of limit "k" is a mapping: want text`,
			`17:37: hold of limit "l" is "999999999999s": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
			`19:29: hold of tenant "a" is "1h": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`,
		},
	},
	{
		name: "bad first tokens",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, initial: -1 }
      - { name: b, rate: 5/s, initial: 50% }
      - { name: c, rate: 5/s, initial: 99999999 }
      - { name: d, rate: 5/s, consistency: strict, initial: 1 }
`,
		want: []string{
			`5:40: initial of limit "a": want a whole number from 0 to 10000000`,
			`6:40: initial of limit "b": want a whole number from 0 to 10000000`,
			`7:40: initial of limit "c": want a whole number from 0 to 10000000`,
			`8:61: initial of limit "d": first tokens are charged after they are spent, which is not strict; remove it, or write consistency: global`,
		},
	},
	{
		name:  "more first tokens than the burst",
		text:  `plans: { p: { limits: [{ name: a, rate: 5/s, initial: 6 }] } }`,
		want:  []string{`1:55: initial of limit "a" is 6 tokens, but its bucket holds 5`},
		blind: true,
	},
	{
		name: "bad key templates",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, key: "{tenat}" }
      - { name: b, rate: 5/s, key: "{tenant}{ip}" }
      - { name: c, rate: 5/s, key: "{tenant" }
      - { name: d, rate: 5/s, key: "{tenant}/{ip}" }
      - { name: e, rate: 5/s, key: "" }
      - { name: f, rate: 5/s, key: "{tenant}:" }
      - { name: g, rate: 5/s, key: "{header.}" }
      - { name: h, rate: 5/s, key: "{header.x y}" }
      - { name: i, rate: 5/s, key: "{claim.sub}" }
      - { name: j, rate: 5/s, key: "{tenant}:user {ip}" }
      - { name: k, rate: 5/s, key: "a:b:c:d:e:f:g:h:i" }
      - { name: l, rate: 5/s, key: {tenant} }
      - { name: m, rate: 5/s, key: "{device}" }
`,
		want: []string{
			`5:36: limit "a": key "{tenat}": unknown placeholder "{tenat}": want {tenant}, {ip}, {route}, {method} or {header.NAME}; did you mean tenant?`,
			`6:36: limit "b": key "{tenant}{ip}": placeholders touch in "{tenant}{ip}": put ':' between them`,
			`7:36: limit "c": key "{tenant": part "{tenant" is neither a placeholder such as {tenant} nor a word of letters, digits, '.', '_', '-'; join parts by ':'`,
			`8:36: limit "d": key "{tenant}/{ip}": part "{tenant}/{ip}" is neither a placeholder such as {tenant} nor a word of letters, digits, '.', '_', '-'; join parts by ':'`,
			`9:36: limit "e": key "": empty part: want parts joined by ':', such as {tenant}:{ip}`,
			`10:36: limit "f": key "{tenant}:": empty part: want parts joined by ':', such as {tenant}:{ip}`,
			`11:36: limit "g": key "{header.}": "" is no header name: want 1 to 64 letters, digits, '-' and '_'`,
			`12:36: limit "h": key "{header.x y}": "x y" is no header name: want 1 to 64 letters, digits, '-' and '_'`,
			`13:36: limit "i": key "{claim.sub}": "{claim.sub}" is not supported by this version`,
			`14:36: limit "j": key "{tenant}:user {ip}": part "user {ip}" is neither a placeholder such as {tenant} nor a word of letters, digits, '.', '_', '-'; join parts by ':'`,
			`15:36: limit "k": key "a:b:c:d:e:f:g:h:i" has 9 parts: at most 8`,
			`16:36: key of limit "l" is a mapping: put it in quotes, such as "{tenant}"`,
			`17:36: limit "m": key "{device}": unknown placeholder "{device}": want {tenant}, {ip}, {route}, {method} or {header.NAME}`,
		},
	},
	{
		name: "bad matches",
		text: `
plans:
  p:
    limits:
      - { name: a, rate: 5/s, match: { method: post } }
      - { name: b, rate: 5/s, match: { method: ANY } }
      - { name: c, rate: 5/s, match: { method: FETCH } }
      - { name: d, rate: 5/s, match: { resource: POST /v1/users } }
      - { name: e, rate: 5/s, match: { resource: v1/users } }
      - { name: f, rate: 5/s, match: { resource: /v1/*/follow } }
      - { name: g, rate: 5/s, match: { resource: "/v1/users " } }
      - { name: h, rate: 5/s, match: /v1 }
      - { name: i, rate: 5/s, match: }
`,
		want: []string{
			`5:48: method "post" of limit "a"; did you mean POST?`,
			`6:48: method "ANY": leave method out to match every method`,
			`7:48: method "FETCH" of limit "c": want one of DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT`,
			`8:50: resource "POST /v1/users" of limit "d": write the method as method: POST`,
			`9:50: resource "v1/users" of limit "e": want a route template that begins with '/', such as /v1/users/{id}, or $connect or $default`,
			`10:50: resource "/v1/*/follow" of limit "f": '*' may only stand at the end, where it matches every route that begins so`,
			`11:50: resource "/v1/users " of limit "g": want visible ASCII characters without spaces`,
			`12:38: match of limit "h" is text: want a mapping`,
			`13:38: match of limit "i" is empty: want a mapping`,
		},
	},
	{
		name: "wrong types",
		text: `
plans:
  a: [1]
  b: { limits: {} }
  c: { limits: [api] }
  d:
  e: { limits: [] }
  f: {}
  7: { limits: [{ name: a, rate: 5/s }] }
  ? [x]
  : y
tenants: { acme: pro }
anonymous: [a]
badCredentials: 60/m
`,
		want: []string{
			`3:6: plan "a" is a list: want a mapping`,
			`4:16: limits of plan "b" is a mapping: want a list`,
			`5:17: a limit is text: want a mapping`,
			`6:5: plan "d" is empty: want a mapping`,
			`7:16: plan "e" has no limits: want at least one; a plan without bounds has one limit with rate: unlimited`,
			`8:6: plan "f" has no limits: want a list called limits; a plan without bounds has one limit with rate: unlimited`,
			`9:3: a key of plans is a number: want text; put it in quotes`,
			`10:5: a key of plans is a list: want text`,
			`12:10: tenants is a mapping: want a list`,
			`13:12: anonymous is a list: want text`,
			`14:17: badCredentials is text: want a mapping`,
		},
	},
	{
		name:  "mistyped key",
		blind: true,
		text: `
plans: { p: { limits: [{ name: a, rate: 5/s }] } }
tenants:
  - { id: a, plan: p, keys: [weir_live_000000000000000000000030KECm, weir_live_000000000000000000000030KECn] }
`,
		want: []string{
			`4:70: a key of tenant "a" begins as those that Weir issues and has another checksum: it is mistyped, and would be refused`,
		},
	},
	{
		name: "bad tenants",
		text: `
plans: { p: { limits: [{ name: a, rate: 5/s, description: "two\nlines" }] } }
tenants:
  - acme
  - { id: a, plan: p, suspended: yes }
  - { id: b, plan: p, keys: k }
  - { id: c, plan: p, keys: [1, "", "a b"] }
  - { id: d, plan: 5 }
`,
		want: []string{
			`2:59: description of limit "a": want one line of up to 256 printable characters`,
			`4:5: a tenant is text: want a mapping`,
			`5:34: suspended of tenant "a" is text: want true or false`,
			`6:29: keys of tenant "b" is text: want a list`,
			`7:30: a key of tenant "c" is a number: want text; put it in quotes`,
			`7:33: a key of tenant "c" is not 1 to 256 visible ASCII characters`,
			`7:37: a key of tenant "c" is not 1 to 256 visible ASCII characters`,
			`8:20: plan of tenant "d" is a number: want text; put it in quotes`,
		},
	},
	{
		name: "no plans",
		text: `tenants: []`,
		want: []string{`1:1: no plans: want a mapping called plans, of plan names to plans`},
	},
	{
		name: "empty plans",
		text: `plans: {}`,
		want: []string{`1:8: plans is empty: want at least one plan`},
	},
	{
		name: "a list",
		text: `[plans]`,
		want: []string{`1:1: the file is a list: want a mapping`},
	},
	{
		name: "bad limits of tenants",
		text: `
plans:
  p: { limits: [{ name: api, rate: 5/s }] }
tenants:
  - { id: a, plan: p, limits: [api] }
  - { id: b, plan: p, limits: { api: {} } }
  - { id: c, plan: p, limits: { api: 5/s } }
  - { id: d, plan: p, limits: { api: { rate: 5 } } }
  - { id: e, plan: p, limits: { api: { rate: 5/sec } } }
  - { id: f, plan: p, limits: { api: { burst: lots } } }
  - { id: g, plan: p, limits: { api: { cost: 5 } } }
  - { id: h, plan: p, limits: { _api: { rate: 5/s } } }
`,
		want: []string{
			`5:31: limits of tenant "a" is a list: want a mapping`,
			`6:38: limit "api" of tenant "b" says nothing: want a rate such as 200/s, a burst such as 400 or 100%, or both`,
			`7:38: limit "api" of tenant "c" is text: want a mapping`,
			`8:46: rate of limit "api" of tenant "d" is a bare number: say per what, such as 5/s`,
			`9:46: limit "api" of tenant "e": rate "5/sec": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited; did you mean 5/s?`,
			`10:47: limit "api" of tenant "f": burst "lots": want a number of tokens such as 200 or 5k, or a percentage of the rate's number such as 100%`,
			`11:40: unknown field "cost" in limit "api" of tenant "g": want one of rate, burst`,
			`12:33: limit name "_api": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`,
		},
	},
	{
		name: "impossible limits of tenants",
		text: `
plans:
  p: { limits: [{ name: api, rate: 5/s }] }
tenants:
  - { id: a, plan: p, limits: { api: { burst: 0 } } }
  - { id: b, plan: p, limits: { api: { rate: 2M/s } } }
  - { id: c, plan: p, limits: { api: { rate: 1/d, burst: 1M } } }
`,
		want: []string{
			`5:47: limit "api" of tenant "a": bucket: impossible burst: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more`,
			`6:46: limit "api" of tenant "b": bucket: impossible rate: 2000000 per 1s: at most 1000000/s`,
			`7:58: limit "api" of tenant "c": bucket: impossible burst: 1000000 tokens at 1 per 24h0m0s refill in over 100 years: at most 36500`,
		},
		blind: true,
	},
	{
		name: "merge key",
		text: `
plans:
  a: &a { limits: [{ name: api, rate: 5/s }] }
  b: { <<: *a }
`,
		want: []string{
			`4:6: plan "b" has no limits: want a list called limits; a plan without bounds has one limit with rate: unlimited`,
			`4:8: merge key << is not supported: repeat the fields, or give the whole value an anchor`,
		},
		blind: true,
	},
	{
		name:  "tag",
		text:  `plans: { p: { limits: [{ name: !secret a, rate: !!binary 5/s }] } }`,
		want:  []string{`1:32: limit name is a value tagged "!secret": want text`, `1:49: rate of limit "" is a value tagged "!!binary": want text`},
		blind: true,
	},
}
