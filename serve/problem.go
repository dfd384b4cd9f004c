package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/kernel-fried-tensor/kft"
)

// A code identifies a kind of error. Codes do not change between versions.
type code string

const (
	badJSON          code = "bad_json"
	missingField     code = "missing_field"
	unknownField     code = "unknown_field"
	invalidValue     code = "invalid_value"
	unknownMode      code = "unknown_mode"
	unseenID         code = "unseen_id"
	badTable         code = "bad_table"
	notFinite        code = "not_finite"
	bodyTooLarge     code = "body_too_large"
	tooManyCells     code = "too_many_cells"
	unsupportedMedia code = "unsupported_media_type"
	unauthorized     code = "unauthorized"
	forbidden        code = "forbidden"
	unknownModel     code = "unknown_model"
	notFound         code = "not_found"
	notAvailable     code = "not_available"
	methodNotAllowed code = "method_not_allowed"
	timedOut         code = "timeout"
	cancelled        code = "cancelled"
	internal         code = "internal"
)

var statusOf = map[code]int{
	badJSON: http.StatusBadRequest, missingField: http.StatusBadRequest, unknownField: http.StatusBadRequest, invalidValue: http.StatusBadRequest,
	unknownMode: http.StatusBadRequest, badTable: http.StatusBadRequest, unseenID: http.StatusUnprocessableEntity, notFinite: http.StatusUnprocessableEntity,
	bodyTooLarge: http.StatusRequestEntityTooLarge, tooManyCells: http.StatusRequestEntityTooLarge, unsupportedMedia: http.StatusUnsupportedMediaType,
	unauthorized: http.StatusUnauthorized, forbidden: http.StatusForbidden, unknownModel: http.StatusNotFound, notFound: http.StatusNotFound,
	notAvailable: http.StatusNotFound, methodNotAllowed: http.StatusMethodNotAllowed, timedOut: http.StatusServiceUnavailable, cancelled: 499,
	internal: http.StatusInternalServerError,
}

// A problem is an error of a request, as it is written to the client.
type problem struct {
	Code    code   `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"` // as in cells[3].store
}

func (p *problem) Error() string { return p.Message }

func problemf(c code, field, format string, args ...any) error {
	return &problem{c, fmt.Sprintf(format, args...), field}
}

// asProblem turns any error of a request into a problem. prefix is the path of the cells
// in the request, as in cells or outcomes.
func asProblem(err error, prefix string) *problem {
	var (
		known    *problem
		tooLarge *http.MaxBytesError
		cell     *kft.CellError
		unseen   *kft.UnseenError
		levels   *kft.QuantileError
		input    *kft.InputError
		infinite *kft.NotFiniteError
		unknown  *kft.UnknownTableError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &tooLarge):
		return &problem{bodyTooLarge, fmt.Sprintf("the request has more than %d bytes", tooLarge.Limit), ""}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{timedOut, "the request took too long; send fewer cells per request", ""}
	case errors.Is(err, context.Canceled):
		return &problem{cancelled, "the client ended the request", ""}
	case errors.As(err, &cell):
		return &problem{unknownMode, cell.Problem, fmt.Sprintf("%s[%d].%s", prefix, cell.Cell, cell.Mode)}
	case errors.As(err, &unseen):
		field := fmt.Sprintf("%s[%d].%s", prefix, unseen.Row-1, unseen.Mode)
		return &problem{unseenID, fmt.Sprintf("the id %q of mode %s is not in the training data; without strict it is predicted by the average id", unseen.ID, unseen.Mode), field}
	case errors.As(err, &levels):
		return &problem{invalidValue, levels.Problem, "quantiles"}
	case errors.Is(err, kft.ErrTooFewRows):
		return &problem{invalidValue, err.Error(), "quantiles"}
	case errors.As(err, &infinite):
		return &problem{notFinite, err.Error(), fmt.Sprintf("%s[%d]", prefix, infinite.Row-1)}
	case errors.As(err, &input), errors.As(err, &unknown):
		return &problem{badTable, err.Error(), ""}
	}
	return &problem{internal, "the request failed; the server's log has the reason", ""}
}

// writeProblem writes an error as JSON.
func (p *problem) write(w http.ResponseWriter) {
	text, err := json.Marshal(map[string]*problem{"error": p})
	if err != nil {
		panic(err) // texts only
	}
	writeJSON(w, statusOf[p.Code], append(text, '\n'))
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text) // an error means that the client is gone
}

// writeValue writes a value as JSON.
func writeValue(w http.ResponseWriter, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, append(text, '\n'))
	return nil
}
