package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"weir/pkg/bucket"
)

func TestMarshalJSON(t *testing.T) {
	f := mustParse(t, `
plans:
  pro:
    description: >
      What most
      pay for
    hold: 250ms
    limits:
      - { name: api, rate: 5k/m }
      - { name: follow, match: { method: POST, resource: "/v1/<id>" }, key: "{tenant}:{header.X-User}", rate: 10/s, burst: 150%, cost: 2 }
      - { name: closed, rate: 0/h, burst: 3, cost: 0 }
      - { name: open, rate: unlimited, burst: 3 }
      - { name: cut, rate: 10/s, onPartition: share }
      - { name: here, rate: 10/s, consistency: regional }
      - { name: login, rate: 5/h, consistency: strict, hold: 0s, onError: deny }
      - { name: try, rate: 5/s, hold: 2000ms, mode: "off", onError: local, initial: 3 }
`)
	want := `{"description":"What most pay for","limits":[` +
		`{"name":"api","key":"{tenant}","rate":"5000/m","burst":"100%","cost":1,"consistency":"global","onPartition":"serve","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"follow","match":{"method":"POST","resource":"/v1/<id>"},"key":"{tenant}:{header.x-user}","rate":"10/s","burst":"150%","cost":2,"consistency":"global","onPartition":"serve","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"closed","key":"{tenant}","rate":"0/s","burst":3,"cost":0,"consistency":"global","onPartition":"serve","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"open","key":"{tenant}","rate":"unlimited","cost":1,"consistency":"global","onPartition":"serve","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"cut","key":"{tenant}","rate":"10/s","burst":"100%","cost":1,"consistency":"global","onPartition":"share","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"here","key":"{tenant}","rate":"10/s","burst":"100%","cost":1,"consistency":"regional","hold":"250ms","mode":"enforce","onError":"allow","initial":0},` +
		`{"name":"login","key":"{tenant}","rate":"5/h","burst":"100%","cost":1,"consistency":"strict","hold":"0s","mode":"enforce","onError":"deny","initial":0},` +
		`{"name":"try","key":"{tenant}","rate":"5/s","burst":"100%","cost":1,"consistency":"global","onPartition":"serve","hold":"2s","mode":"off","onError":"local","initial":3}]}`
	got, err := f.Plans["pro"].MarshalJSON()
	if err != nil || string(got) != want {
		t.Errorf("MarshalJSON:\n got %s, %v\nwant %s", got, err, want)
	}
	checkRoundTrip(t, f.Plans["pro"])
}

func TestMarshalRefusesWhatCouldNotBeReadBack(t *testing.T) {
	ok := Limit{Name: "api", Bucket: mustLimit(t, 1, time.Second, 1), Cost: 1}
	for name, change := range map[string]func(*Plan){
		"no limits":        func(p *Plan) { p.Limits = nil },
		"no name":          func(p *Plan) { p.Limits[0].Name = "" },
		"odd period":       func(p *Plan) { p.Limits[0].Bucket = mustLimit(t, 1, 5*time.Second, 1) },
		"negative cost":    func(p *Plan) { p.Limits[0].Cost = -1 },
		"bad method":       func(p *Plan) { p.Limits[0].Match.Method = "get" },
		"bad UTF-8":        func(p *Plan) { p.Description = "\xff\x01" },
		"no consistency":   func(p *Plan) { p.Limits[0].Consistency = 3 },
		"nothing to share": func(p *Plan) { p.Limits[0].Consistency, p.Limits[0].Share = Strict, true },
		"hold too long":    func(p *Plan) { p.Limits[0].Hold = MaxHold + time.Millisecond },
		"odd hold":         func(p *Plan) { p.Limits[0].Hold = time.Microsecond },
		"odd percentage":   func(p *Plan) { p.Limits[0].Percent = 200 },
		"no mode":          func(p *Plan) { p.Limits[0].Mode = -1 },
		"no onError":       func(p *Plan) { p.Limits[0].OnError = 3 },
		"too many initial": func(p *Plan) { p.Limits[0].Initial = 2 },
		"strict initial":   func(p *Plan) { p.Limits[0].Consistency, p.Limits[0].Initial = Strict, 1 },
		"duplicate limits": func(p *Plan) { p.Limits = append(p.Limits, ok) },
	} {
		p := &Plan{Name: "p", Limits: []Limit{ok}}
		if data, err := json.Marshal(p); err != nil {
			t.Fatalf("before the change: %s, %v", data, err)
		}
		change(p)
		if data, err := json.Marshal(p); err == nil {
			t.Errorf("%s: got %s, want an error", name, data)
		}
	}
}

func TestRoundTripOfAnyPlan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		checkRoundTrip(t, randomPlan(t, rnd))
	}
}

// checkRoundTrip checks that p survives being written in both forms, and that
// what is read back is written the same.
func checkRoundTrip(t *testing.T, p *Plan) {
	t.Helper()
	inJSON, err := json.Marshal(p)
	if err != nil {
		t.Fatalf("marshal %+v: %v", p, err)
	}
	inYAML, err := yaml.Marshal(p)
	if err != nil {
		t.Fatalf("marshal %+v: %v", p, err)
	}
	for _, data := range [][]byte{inJSON, inYAML} {
		got, err := ParsePlan(p.Name, data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got.Ver = p.Ver; !reflect.DeepEqual(got, p) {
			t.Fatalf("%s\n is %+v\nwant %+v", data, got, p)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != string(inJSON) {
			t.Fatalf("written as %s, then as %s, %v", inJSON, again, err)
		}
	}
}

func randomPlan(t *testing.T, rnd *rand.Rand) *Plan {
	p := &Plan{Name: "p", Ver: rnd.Int64(), Description: randomText(rnd)}
	for i := range 1 + rnd.IntN(4) {
		l := Limit{Name: string(rune('a'+i)) + "-1", Description: randomText(rnd)}
		if rnd.IntN(2) == 0 {
			l.Match.Method = methods[rnd.IntN(len(methods))]
		}
		l.Match.Resource = []string{"", "/", "/v1/*", "*", "$connect", "/a/{b}/#:,'\"[]&!"}[rnd.IntN(6)]
		l.Key = mustTemplate(t, []string{"{tenant}", "{ip}", "all", "{tenant}:true:{header.no}", "{method}:{route}", "1"}[rnd.IntN(6)])
		switch rnd.IntN(6) {
		case 0:
			l.Bucket, l.Percent = bucket.Unlimited(), 100
			l.Cost = rnd.Int64N(bucket.MaxBurst + 1)
		case 1:
			l.Bucket = mustLimit(t, 0, 0, rnd.Int64N(100))
			l.Cost = rnd.Int64N(bucket.MaxBurst + 1)
		default:
			period := []time.Duration{time.Second, time.Minute, time.Hour, day}[rnd.IntN(4)]
			burst := 1 + rnd.Int64N(30_000)
			rate := 1 + rnd.Int64N(1_000_000)
			if rnd.IntN(2) == 0 {
				l.Percent = 1 + rnd.Int64N(150)
				burst = max(1, rate*l.Percent/100)
				l.Percent *= min(1, rate*l.Percent/100) // not of what would be rounded to 0
			}
			l.Bucket = mustLimit(t, rate, period, burst)
			l.Cost = rnd.Int64N(burst + 1)
		}
		l.Consistency = Consistency(rnd.IntN(len(consistencies)))
		l.Share = l.Consistency == Global && rnd.IntN(2) == 0
		l.Hold = []time.Duration{0, time.Millisecond, 250 * time.Millisecond, time.Second, 4999 * time.Millisecond, MaxHold}[rnd.IntN(6)]
		l.Mode, l.OnError = Mode(rnd.IntN(len(modes))), OnError(rnd.IntN(len(onErrors)))
		if l.Consistency != Strict {
			l.Initial = rnd.Int64N(1 + l.Bucket.Burst())
		}
		p.Limits = append(p.Limits, l)
	}
	return p
}

// randomText returns a description, as awkward as one may be.
func randomText(rnd *rand.Rand) string {
	alphabet := []rune(`aé世😀 :#-'"\{}[]&*!|>%@,?~0`)
	s := make([]rune, rnd.IntN(12))
	for i := range s {
		s[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return strings.TrimSpace(string(s))
}
